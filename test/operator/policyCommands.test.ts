import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { withBooks } from '../support/database/books.js'
import { commandsOn, labelled, rowsOf } from '../support/service/cliAnswers.js'
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

test('the worked policy in docs/sponsorship.md runs as printed', async () => {
  const page = readFileSync('docs/sponsorship.md', 'utf8')
  const [, script = ''] =
    /\*\*From nothing to a refusal\.[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? []
  const folder = mkdtempSync(join(purser().dataFolder, 'worked-'))
  symlinkSync(purser().dataFolder, join(folder, '.purser'))
  // The command `purser` is this build.
  mkdirSync(join(folder, 'bin'))
  const command = `#!/bin/sh\nexec ${process.execPath} ${resolve('dist/cli.js')} "$@"\n`
  writeFileSync(join(folder, 'bin/purser'), command, { mode: 0o755 })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('node_modules/viem'), join(folder, 'node_modules/viem'))
  const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8')) ?? []
  writeFileSync(join(folder, 'first.mjs'), program)
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], {
    cwd: folder,
    env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
  })
  expect(stderr).toContain('SENDER_NOT_ALLOWED')
  expect(stdout).toContain('SENDER_NOT_ALLOWED')
  expect(stdout).toContain('"active": false')
  expect(stdout).toContain('Deleted policy')
})

test('YAML and JSON make the same policy, and a webhook is made by a command', async () => {
  const { answer } = commandsOn(purser().dataFolder)
  const terms = { denySenders: [`0x${'ab'.repeat(20)}`], chains: [31_337] }
  const yaml = `name: same\nterms: { denySenders: [${terms.denySenders}], chains: [31337] }\n`
  const files = [fileOf('p.yml', yaml), fileOf('p.json', JSON.stringify({ name: 'same', terms }))]
  const made = []
  for (const file of files) {
    const policy = JSON.parse(await answer('policy', 'create', ...app, '--file', file))
    made.push({ name: policy.name, terms: policy.terms, active: policy.active })
    await answer('policy', 'delete', policy.policyId, ...app)
  }
  expect(made[0]).toEqual({ name: 'same', terms, active: true })
  expect(made[1]).toEqual(made[0])

  const webhook = ['--url', 'https://dapp.example/', '--on-failure', 'approve']
  const shown = await answer('webhook', 'create', ...app, ...webhook)
  expect(shown).toMatch(/^secret +whsec_/m)
  const [row] = rowsOf(await answer('webhook', 'list', ...app))
  expect(row).toMatchObject({ requestType: 'POST', onFailure: 'approve', active: 'true' })
  const changed = [labelled(shown, 'webhook'), ...app, '--active', 'false']
  await answer('webhook', 'set', ...changed)
})

/** Eleven levels of ten times the one before. */
function laughs(): string {
  const level = (name: string, of: string) => `${name}: &${name} [${`${of}, `.repeat(10)}]`
  const names = [...'abcdefghijk']
  const levels = names.map((name, at) => level(name, at === 0 ? 'x' : `*${names[at - 1]}`))
  return ['name: x', ...levels].join('\n')
}

test.each([
  ['an indentation that is none', 'name: x\n terms: {}', /is no YAML/],
  ['two documents', 'name: x\n---\nname: y', /is no YAML/],
  ['a name twice', 'name: x\nname: y', /is no YAML/],
  ['a billion laughs', laughs(), /is no YAML/],
  ['an amount that is no text', 'name: x\nterms: { maxFeePerGas: 5 }', /maxFeePerGas/],
])('a YAML file with %s ends with one sentence', async (_, content, text) => {
  const { refusal } = commandsOn(purser().dataFolder)
  const file = fileOf('wrong.yaml', content)
  expect(await refusal('policy', 'create', ...app, '--file', file)).toMatch(text)
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
