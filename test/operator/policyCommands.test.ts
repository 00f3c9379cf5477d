import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { withBooks } from '../support/database/books.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser()
let app: string[] = []
beforeAll(async () => {
  const { id } = await withBooks(purser().dataFolder, (database) =>
    database.selectFrom('apps').select('id').executeTakeFirstOrThrow(),
  )
  app = ['--app', id]
})

function fileOf(name: string, content: string): string {
  const path = join(purser().dataFolder, name)
  writeFileSync(path, content)
  return path
}

test('a policy from nothing to a refusal, and back', async () => {
  const { answer } = commandsOn(purser().dataFolder)
  const account = await devAccount(purser().info, 'refused')
  expect((await account.sponsored()).paymaster).toBeDefined()

  const terms = { denySenders: [account.account.address] }
  const file = fileOf('policy.json', JSON.stringify({ name: 'first', terms }))
  const { policyId } = JSON.parse(await answer('policy', 'create', ...app, '--file', file))
  await expect(account.sponsored()).rejects.toThrow('SENDER_NOT_ALLOWED')
  expect(rowsOf(await answer('policy', 'list', ...app))).toMatchObject([
    { policyId, name: 'first', active: 'true' },
  ])
  const refused = await answer('decision', 'list', ...app)
  expect(refused).toContain('SENDER_NOT_ALLOWED')

  const pause = fileOf('pause.json', '{ "active": false }')
  await answer('policy', 'edit', policyId, ...app, '--file', pause)
  await expect(account.sponsored()).rejects.toThrow('POLICY_INACTIVE')
  expect(JSON.parse(await answer('policy', 'show', policyId, ...app))).toMatchObject({
    active: false,
    terms,
  })
  await answer('policy', 'delete', policyId, ...app)
  expect((await account.sponsored()).paymaster).toBeDefined()
})

test.each([
  ['no JSON', 'name: first', /is no JSON/],
  ['a list', '[]', /one JSON object/],
  ['an unknown term', '{"name":"x","terms":{"allowSender":[]}}', /allowSender/],
  ['no name', '{"terms":{}}', /name/],
])('a file with %s ends with one sentence', async (_, content, text) => {
  const { refusal } = commandsOn(purser().dataFolder)
  const file = fileOf('wrong.json', content)
  expect(await refusal('policy', 'create', ...app, '--file', file)).toMatch(text)
})
