import { expect, test } from 'vitest'
import { listAudit } from '../../src/tenants/audit.js'
import { storeUser } from '../support/database/storeUser.js'
import { useAdmin } from '../support/http/useAdmin.js'

const { send, database, signInLinks } = useAdmin()

const ofOurPage = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
const credentials = { apiKey: 'pk.shown', authToken: 'at.shown' }

test('a link signs its user in once, shows the credentials, and is in the audit log', async () => {
  const { userId } = await storeUser(database(), {})
  const token = signInLinks.offer({ userId, credentials })
  const open = (headers: Readonly<Record<string, string>>) =>
    send('POST', '/session/link', headers, { token })

  // Another page cannot use it up.
  expect((await open({ ...ofOurPage, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  const answer = await open(ofOurPage)
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({ user: { id: userId }, credentials })
  expect(answer.headers.get('set-cookie')).toMatch(/HttpOnly.*SameSite=Strict/)
  expect((await open(ofOurPage)).status).toBe(401)

  const { items } = await listAudit(database(), undefined, { limit: 1, before: undefined })
  expect(items[0]).toMatchObject({ action: 'session.create', actor: 'user', actor_id: userId })
})
