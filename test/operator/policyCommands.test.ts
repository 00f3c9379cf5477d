import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { withBooks } from '../support/database/books.js'
import type { Json } from '../support/http/jsonRpc.js'
import { commandsOn, expectOneSentence, labelled, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { runCli } from '../support/service/startPurser.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

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

test('the worked policy in docs/build/sponsorship.md runs as printed', async () => {
  const page = readFileSync('docs/build/sponsorship.md', 'utf8')
  const [, script = ''] =
    /### From nothing to a rejection[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? []
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

test('a draft is tried on what was sent, with its budgets in order, next to the decisions of that time', async () => {
  const { answer } = commandsOn(purser().dataFolder)
  const { info } = purser()
  const often = await devAccount(info, 'tried often')
  const twice = await devAccount(info, 'tried twice')
  const sent: string[] = []
  // The first operation of each makes its account, for which it may cost more than the others.
  for (const account of [twice, often, often, often, often, twice, twice]) {
    const hash = await account.send(await account.sponsored())
    await receiptOf(info, hash)
    sent.push(hash)
  }
  sent.splice(0, 2)
  const [, appId = ''] = app
  const ask = async (path: string, body?: Json): Promise<Json> => {
    const headers = { authToken: info.authToken }
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${info.url}/admin/v1${path}`, { headers, ...init })
    expect({ path, status: response.status }).toEqual({ path, status: 200 })
    return response.json()
  }
  const tried = (terms: Json, against: Json = { last: 5 }) =>
    ask(`/apps/${appId}/policies/try`, { terms, against })

  const denied = await tried({ denySenders: [often.account.address] })
  expect(denied).toMatchObject({ tried: 5, passed: 2, unevaluated: [] })
  expect(denied.refused).toEqual([{ code: 'SENDER_NOT_ALLOWED', count: 3 }])
  expect(denied.before).toEqual({ sponsored: 5, refused: 0, unasked: 0 })
  expect(
    denied.items.map((each: Json) => [each.userOpHash, each.passes, each.before.code]),
  ).toEqual(sent.map((hash, place) => [hash, place > 2, 'SPONSORED']))

  const counted = await tried({
    budgets: [{ per: 'sender', limit: { count: 2 }, window: 'never' }],
  })
  expect(counted.items.map(({ passes }: Json) => passes)).toEqual([true, true, false, true, true])

  // What an operation held is free again once its real cost is known: the fifth just fits.
  const { items: decided } = await ask(`/decisions?appId=${appId}&limit=5`)
  const most = new Map(decided.map((each: Json) => [each.userOpHash, BigInt(each.maxCost)]))
  let settled = 0n
  for (const hash of sent.slice(0, 4)) {
    const { actualCost } = await ask(`/operations/${info.chainId}/${hash}`)
    settled += BigInt(actualCost)
  }
  const wei = settled + (most.get(sent[4]) as bigint)
  for (const [limit, passed] of [
    [wei, 5],
    [wei - 1n, 4],
  ] as const) {
    const budgets = [{ per: 'app', limit: { wei: String(limit) }, window: 'never' }]
    const { items, ...summary } = await tried({ budgets })
    expect({ passed: summary.passed, last: items.at(-1).passes }).toEqual({
      passed,
      last: passed === 5,
    })
  }
  expect(await tried({ validFrom: 4_000_000_000, webhookMode: 'always' })).toMatchObject({
    passed: 5,
    unevaluated: ['webhooks', 'validity'],
  })

  // A request that was refused can be tried by its decision, since it is recorded.
  const terms = { denySenders: [often.account.address] }
  const file = fileOf('tried.json', JSON.stringify({ name: 'tried', terms }))
  const { policyId } = JSON.parse(await answer('policy', 'create', ...app, '--file', file))
  await expect(often.sponsored()).rejects.toThrow('SENDER_NOT_ALLOWED')
  const [{ decisionId }] = (await ask(`/decisions?appId=${appId}&limit=1`)).items
  const asked = `method=pm_sponsorUserOperation&sender=${often.account.address}`
  const recorded = async () => (await ask(`/refusals?appId=${appId}&${asked}`)).items[0]
  await until(async () => (await recorded()) !== undefined)
  expect(await recorded()).toMatchObject({ code: -32501 })
  for (const against of [{ decisionId }, { refusalId: (await recorded()).refusalId }]) {
    const open = await tried({ budgets: [{ per: 'sender', limit: { count: 1 } }] }, against)
    expect(open.items).toMatchObject([
      { passes: true, before: { decisionId, sponsored: false, code: 'SENDER_NOT_ALLOWED' } },
    ])
    expect(open.verdicts.map(({ rule }: Json) => rule).slice(0, 3)).toEqual([
      'time',
      'chain',
      'sender',
    ])
  }
  await answer('policy', 'delete', policyId, ...app)

  const operation = toInterfaceOperation(await twice.sponsored())
  const pasted = { chainId: info.chainId, entryPoint: twice.entryPoint, operation }
  expect((await tried({ maxFeePerGas: '1' }, { operation: pasted })).items).toMatchObject([
    { passes: false, code: 'FEE_TOO_HIGH', before: null },
  ])
  const bounded = 'budgets: [{ per: sender, limit: { count: 5 }, window: day }]'
  const cheap = fileOf('cheap.yaml', `terms: { maxFeePerGas: "1", ${bounded} }`)
  // It needs no database.
  const checked = (path: string) => runCli(['policy', 'check', path])
  expect(await checked(cheap)).toMatchObject({ code: 0, stdout: 'well-formed\n' })
  const over = await checked(fileOf('over.yaml', `terms: { validUntil: 9, ${bounded} }`))
  expect(over).toMatchObject({
    code: 0,
    stdout: 'well-formed\nwarning: validUntil is over: the policy passes nothing.\n',
  })
  const mistaken = 'terms: { chains: [x], calls: { allow: [{ target: any, function: "f(" }] } }'
  const { code, stderr } = await checked(fileOf('mistaken.yaml', mistaken))
  expect(code).toBe(1)
  expect(expectOneSentence(stderr)).toMatch(
    /chains\.0 .*; calls\.allow\.0\.function must be a selector/,
  )
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
  expect(shown).toMatch(/^signingSecret +whsec_/m)
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
