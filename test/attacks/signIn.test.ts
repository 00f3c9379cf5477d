import { createHash, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAudit } from '../../src/tenants/audit.js'
import { createAuthenticator } from '../../src/tenants/authenticate.js'
import { createPasswords } from '../../src/tenants/people/passwords.js'
import { countAttempt } from '../../src/tenants/people/signIn.js'
import { storeUser } from '../support/database/storeUser.js'
import type { Json } from '../support/http/jsonRpc.js'
import { type Answer, operatorToken, useAdmin } from '../support/http/useAdmin.js'

const { admin, database, one, send, two, url } = useAdmin()

const password = 'correct horse battery staple'
const browser = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
let passwordHash = ''

beforeAll(async () => {
  passwordHash = await createPasswords().hash(password, 'test')
})
afterAll(() => database().deleteFrom('sign_in_attempts').execute())

function signIn(email: string, secret: string, headers = browser): Promise<Answer> {
  return send('POST', '/session', headers, { email, password: secret })
}

function cookieOf({ headers }: Answer): string {
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

async function forgetAttempts(): Promise<void> {
  await database().deleteFrom('sign_in_attempts').execute()
}

describe('the cookie of a session', () => {
  test('is for this site only, is new each time, and is not the one that somebody planted', async () => {
    const user = await storeUser(database(), { passwordHash })
    const planted = { ...browser, cookie: 'purser=se.plantedByAnAttacker' }
    const first = await signIn(user.email, password, planted)
    const second = await signIn(user.email, password)
    expect(first.headers.get('set-cookie')).toMatch(
      /^purser=se\.\w{40}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(cookieOf(first)).not.toBe(cookieOf(second))
    expect((await send('GET', '/session', planted)).status).toBe(401)
  })

  test('ends at once when the user signs out, and when an operator disables the user', async () => {
    const user = await storeUser(database(), { passwordHash })
    const one = { ...browser, cookie: cookieOf(await signIn(user.email, password)) }
    const two = { ...browser, cookie: cookieOf(await signIn(user.email, password)) }
    expect((await send('DELETE', '/session', one)).status).toBe(200)
    expect((await send('GET', '/session', one)).status).toBe(401)
    expect((await send('GET', '/session', two)).status).toBe(200)
    const path = `/users/${user.userId}`
    expect((await admin('PATCH', path, operatorToken, { isDisabled: true })).status).toBe(200)
    expect((await send('GET', '/session', two)).status).toBe(401)
    expect((await signIn(user.email, password)).status).toBe(401)
    await admin('PATCH', path, operatorToken, { isDisabled: false })
    expect((await send('GET', '/session', two)).status).toBe(401)
  })

  test('ends when the password is another, except where it was changed', async () => {
    const user = await storeUser(database(), { passwordHash })
    const thief = { ...browser, cookie: cookieOf(await signIn(user.email, password)) }
    const owner = { ...browser, cookie: cookieOf(await signIn(user.email, password)) }
    const change = { current: password, password: 'a different horse, with another staple' }
    expect((await send('POST', '/password', owner, { ...change, current: 'no' })).status).toBe(400)
    expect((await send('POST', '/password', owner, change)).status).toBe(200)
    expect((await send('GET', '/session', owner)).status).toBe(200)
    expect((await send('GET', '/session', thief)).status).toBe(401)
    expect((await signIn(user.email, password)).status).toBe(401)
  })

  test('ends by itself: twelve hours unused, seven days in all', async () => {
    const { userId, headers } = await storeUser(database(), {})
    const set = (column: 'seen_at' | 'expires_at', hoursAgo: number) =>
      database()
        .updateTable('sessions')
        .set({ [column]: new Date(Date.now() - hoursAgo * 3_600_000) })
        .where('user_id', '=', userId)
        .execute()
    await set('seen_at', 11.9)
    expect((await send('GET', '/session', headers)).status).toBe(200)
    await set('seen_at', 12.1)
    expect((await send('GET', '/session', headers)).status).toBe(401)
    await set('seen_at', 0)
    await set('expires_at', 0.1)
    expect((await send('GET', '/session', headers)).status).toBe(401)
  })
})

describe('requests that another site makes a browser send', () => {
  const evil = 'https://evil.example'
  test.each<[string, Record<string, string | undefined>]>([
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['of an old browser', { 'sec-fetch-site': undefined, origin: evil }],
    ['without a word on where it comes from', { 'sec-fetch-site': undefined }],
    ['by a form', { 'content-type': 'text/plain' }],
    ['by a name that was pointed at us', { host: 'evil.example' }],
    ['by a name that begins like ours', { host: 'localhost.evil.example' }],
  ])('%s change nothing', async (_, changed) => {
    const { accountId } = one()
    const victim = await storeUser(database(), { accountId, role: 'admin', passwordHash })
    const headers = Object.fromEntries(
      Object.entries({ ...victim.headers, ...changed }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>
    const before = await database().selectFrom('apps').select('id').execute()
    expect((await raw('POST', '/apps', headers, { name: 'forged' })).status).toBe(403)
    const credentials = { email: victim.email, password }
    const forged = await raw('POST', '/session', headers, credentials)
    expect({ status: forged.status, cookie: forged.cookie }).toEqual({ status: 403, cookie: null })
    expect(await database().selectFrom('apps').select('id').execute()).toEqual(before)
  })

  test('read nothing', async () => {
    const { headers } = await storeUser(database(), { accountId: one().accountId, role: 'admin' })
    for (const site of ['cross-site', 'same-site'])
      expect((await send('GET', '/apps', { ...headers, 'sec-fetch-site': site })).status).toBe(403)
    expect((await raw('GET', '/apps', { ...headers, host: 'evil.example:80' })).status).toBe(403)
    const answer = await send('GET', '/apps', { ...headers, origin: evil })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  /** By node:http, which sends the Host that it is given. */
  async function raw(method: string, path: string, headers: Record<string, string>, body?: Json) {
    const target = new URL(`${url()}/admin/v1${path}`)
    return new Promise<{ status: number; cookie: string | null }>((resolve, reject) => {
      const asked = request(target, { method, headers }, (answer) => {
        answer.resume()
        const cookie = answer.headers['set-cookie']?.[0] ?? null
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, cookie }))
      })
      asked.on('error', reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
})

describe('guessing passwords', () => {
  test('of one user from one place: five attempts, then longer and longer waits', async () => {
    await forgetAttempts()
    const { email } = await storeUser(database(), { passwordHash })
    const wrong: number[] = []
    // At once, as an attacker asks: the count must not be outrun.
    const answers = await Promise.all(Array.from({ length: 4 }, () => signIn(email, 'wrong')))
    wrong.push(...answers.map(({ status }) => status))
    wrong.push((await signIn(email, 'wrong')).status, (await signIn(email, 'wrong')).status)
    expect(wrong).toEqual([401, 401, 401, 401, 401, 401])
    const [row] = await attempts()
    expect(row).toMatchObject({ failures: 6, locked_until: expect.any(Date) })
    await failOften()
    expect((await signIn(email, 'wrong')).status).toBe(401)
    const locked = await signIn(email, password)
    expect(locked.status).toBe(429)
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(600)
    await database().updateTable('sign_in_attempts').set({ locked_until: null }).execute()
    expect((await signIn(email, password)).status).toBe(201)
  })

  test('an attempt for which there is no turn is no failure', async () => {
    await forgetAttempts()
    const { email } = await storeUser(database(), { passwordHash })
    const answers = await Promise.all(Array.from({ length: 12 }, () => signIn(email, 'wrong')))
    const failed = answers.filter(({ status }) => status === 401)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(12 - failed.length)
    expect(failed.length).toBeLessThan(6)
    expect(await attempts()).toMatchObject([
      { failures: failed.length, locked_until: null },
      { failures: failed.length, locked_until: null },
    ])
    expect((await signIn(email, password)).status).toBe(201)
  })

  test('tells nobody who has an account here', async () => {
    await forgetAttempts()
    const { email } = await storeUser(database(), { passwordHash })
    const { email: withoutPassword } = await storeUser(database(), {})
    const disabled = await storeUser(database(), { passwordHash })
    await admin('PATCH', `/users/${disabled.userId}`, operatorToken, { isDisabled: true })
    const nobody = `${randomUUID()}@example.com`
    const seen: Json[] = []
    for (const asked of [email, withoutPassword, disabled.email, nobody, 'no address']) {
      const statuses: Json[] = []
      for (let i = 0; i < 4; i++) {
        const { status, body } = await signIn(asked, `wrong ${i}`)
        statuses.push(status === 429 ? status : [status, body])
        if (i === 1) await failOften()
      }
      seen.push(statuses)
    }
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(seen[0].at(-1)).toBe(429)
  })

  test('from many places keeps those out, and not the user at a place that is known', async () => {
    await forgetAttempts()
    const { email } = await storeUser(database(), { passwordHash })
    expect((await signIn(email, password)).status).toBe(201)
    // Twenty networks that failed: as their rows are, and as the next one of them finds them.
    const ofAll = createHash('sha256')
      .update(JSON.stringify([email]))
      .digest()
    await countAttempt(database(), ofAll, 20)
    await failOften()
    expect(await countAttempt(database(), ofAll, 20)).toMatchObject({ isLocked: false })
    expect(await countAttempt(database(), ofAll, 20)).toMatchObject({ isLocked: true })
    expect((await signIn(email, password)).status).toBe(201)
    await database().updateTable('sign_in_attempts').set({ trusted_until: null }).execute()
    expect((await signIn(email, password)).status).toBe(429)
  })

  function attempts() {
    return database()
      .selectFrom('sign_in_attempts')
      .selectAll()
      .orderBy('failures', 'desc')
      .execute()
  }

  /** As after so many failures that the next one locks for a quarter of an hour: longer than any test. */
  function failOften() {
    const set = { failures: 60, locked_until: null }
    return database().updateTable('sign_in_attempts').set(set).execute()
  }
})

describe('invitations', () => {
  const accept = (token: string, secret: string) =>
    send('POST', '/invitations/accept', browser, { token, password: secret })
  const inviteTo = async (email: string, by = one().token, role = 'viewer') =>
    (await admin('POST', '/invitations', by, { email, role })).body.token as string

  test('are good once, also for two who come at once', async () => {
    const token = await inviteTo(`${randomUUID()}@example.com`)
    const statuses = await Promise.all([accept(token, password), accept(token, password)])
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 401])
    expect((await accept(token, password)).status).toBe(401)
  })

  test('are no good past their end, when withdrawn, or when who made them lost the right', async () => {
    const email = () => `${randomUUID()}@example.com`
    const late = await inviteTo(email())
    await database()
      .updateTable('invitations')
      .set({ expires_at: new Date(Date.now() - 1_000) })
      .execute()
    expect((await accept(late, password)).status).toBe(401)

    const { accountId } = one()
    await storeUser(database(), { accountId, role: 'admin' })
    const inviter = await storeUser(database(), { accountId, role: 'admin' })
    const made = await send('POST', '/invitations', inviter.headers, {
      email: email(),
      role: 'admin',
    })
    const path = `/members/${inviter.userId}`
    expect((await admin('PATCH', path, one().token, { role: 'viewer' })).status).toBe(200)
    expect((await accept(made.body.token, password)).status).toBe(401)
  })

  test('of a tenant do not set the password of an operator who has none yet', async () => {
    const email = `${randomUUID()}@example.com`
    const made = { email, name: 'Op', isOperator: true }
    const operator = (await admin('POST', '/users', operatorToken, made)).body
    const token = await inviteTo(email, two().token, 'admin')
    expect((await accept(token, password)).status).toBe(401)
    expect((await signIn(email, password)).status).toBe(401)
    expect((await accept(operator.token, password)).status).toBe(200)
    expect((await signIn(email, password)).status).toBe(201)
    // The invitation was not used up by the attempt: the operator may still accept it.
    expect((await accept(token, 'not the password')).status).toBe(401)
    expect((await accept(token, password)).status).toBe(200)
  })

  test('are accepted in the session of the user whom they name, also without a password', async () => {
    const { email, headers, userId } = await storeUser(database(), {})
    const other = await storeUser(database(), { isOperator: true })
    const token = await inviteTo(email, two().token, 'developer')
    const join = (as: Record<string, string>, given = token) =>
      send('POST', '/session/invitation', as, { token: given })
    expect((await accept(token, password)).status).toBe(401)
    expect((await join(other.headers)).status).toBe(400)
    expect((await send('POST', '/session/invitation', browser, { token })).status).toBe(401)
    const statuses = await Promise.all([join(headers), join(headers)])
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 400])
    const { memberships } = (await send('GET', '/session', headers)).body
    expect(memberships).toMatchObject([{ accountId: two().accountId, role: 'developer' }])
    const query = { limit: 1, before: undefined }
    const { items } = await listAudit(database(), two().accountId, query)
    expect(items).toMatchObject([{ action: 'member.create', actor: 'user', actor_id: userId }])
    // One to choose a password is for those who cannot sign in.
    const path = `/users/${other.userId}/password`
    const reset = await admin('POST', path, operatorToken)
    expect((await join(other.headers, reset.body.token)).status).toBe(400)
  })

  test('refuse passwords that are guessed first', async () => {
    const email = `marguerite.${randomUUID()}@example.com`
    const token = await inviteTo(email)
    for (const weak of ['short', 'password1234', 'qwertyuiop12', '123456789012', 'aaaaaaaaaaaa'])
      expect((await accept(token, weak)).status).toBe(400)
    expect((await accept(token, 'Marguerite-2026')).status).toBe(400)
    expect((await accept(token, 'x'.repeat(600))).status).toBe(400)
  })
})

describe('the last one who can administer', () => {
  test('an account keeps an admin, also when two demote each other at once', async () => {
    const { body } = await admin('POST', '/accounts', operatorToken, { name: 'last' })
    const { id: accountId } = body.account
    const first = await storeUser(database(), { accountId, role: 'admin' })
    const second = await storeUser(database(), { accountId, role: 'admin' })
    const demote = (by: typeof first, whom: typeof first) =>
      send('PATCH', `/members/${whom.userId}`, by.headers, { role: 'viewer' })
    await Promise.all([demote(first, second), demote(second, first)])
    const { body: left } = await admin('GET', '/members', body.authToken)
    const admins = left.items.filter(({ role }: Json) => role === 'admin')
    expect(admins).toHaveLength(1)
    const [{ userId }] = admins
    for (const [method, change] of [['PATCH', { role: 'developer' }], ['DELETE']] as const) {
      const refused = await admin(method, `/members/${userId}`, body.authToken, change)
      expect(refused).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('last admin') },
      })
    }
  })

  test('the instance keeps an operator', async () => {
    await database().updateTable('users').set({ is_operator: false }).execute()
    const first = await storeUser(database(), { isOperator: true })
    const second = await storeUser(database(), { isOperator: true })
    const end = (by: typeof first, whom: typeof first) =>
      send('PATCH', `/users/${whom.userId}`, by.headers, { isDisabled: true })
    await Promise.all([end(first, second), end(second, first)])
    const users = (await admin('GET', '/users', operatorToken)).body.items as Json[]
    const left = users.filter(({ isOperator, disabledAt }) => isOperator && disabledAt === null)
    expect(left).toHaveLength(1)
    const path = `/users/${left[0].id}`
    for (const change of [{ isDisabled: true }, { isOperator: false }])
      expect((await admin('PATCH', path, operatorToken, change)).status).toBe(400)
  })
})

describe('tokens', () => {
  test('end at their time and when they are revoked; the first one is replaced alone', async () => {
    const { body } = await admin('POST', '/accounts', operatorToken, { name: 'tokens' })
    const { account, authToken: first } = body
    const make = async (name: string) =>
      (await admin('POST', '/auth-tokens', first, { name, role: 'viewer' })).body
    const [kept, ended] = [await make('kept'), await make('ended')]
    await database()
      .updateTable('auth_tokens')
      .set({ expires_at: new Date(Date.now() - 1_000) })
      .where('id', '=', ended.token.id)
      .execute()
    const rotated = await admin('POST', `/accounts/${account.id}/token`, operatorToken)
    // What another replica, which remembers nothing, says of them.
    const { authenticateToken } = createAuthenticator(database())
    expect(await authenticateToken(ended.authToken)).toBeUndefined()
    expect(await authenticateToken(first)).toBeUndefined()
    expect(await authenticateToken(kept.authToken)).toMatchObject({ role: 'viewer' })
    const { authToken: renewed } = rotated.body
    expect(await authenticateToken(renewed)).toMatchObject({ role: 'admin', isFirst: true })
    await admin('DELETE', `/auth-tokens/${kept.token.id}`, renewed)
    expect(await createAuthenticator(database()).authenticateToken(kept.authToken)).toBeUndefined()
  })
})
