import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { SIGNER_PURPOSE } from '../../src/paymaster/tank/signForTank.js'
import { decryptSecret } from '../../src/tenants/secrets.js'
import { withBooks } from '../support/database/books.js'
import { rpc } from '../support/http/jsonRpc.js'
import { webhookApi } from '../support/http/webhookApi.js'
import { commandsOn, labelled, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { counterOf, metricsToken } from '../support/service/metricsOf.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

const purser = useRunningPurser(['--log-level', 'info', '--operator-token', metricsToken])
const commands = () => commandsOn(purser().dataFolder)

type Line = Readonly<Record<string, unknown>> & { readonly msg: string }

function logLines(): Line[] {
  return purser()
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
}

/** Changes the level by the signal and waits until the process has. */
async function toggleLevel(level: string): Promise<void> {
  const changes = () => logLines().filter(({ msg }) => msg.includes('changed by SIGUSR2'))
  const before = changes().length
  purser().process.kill('SIGUSR2')
  const change = await until(async () => changes()[before])
  expect(change).toMatchObject({ logLevel: level })
}

const tokens = /\b(?:pk\.|at\.|whsec_)[A-Za-z0-9+/=_-]{16,}/g
const secrets = new Set<string>([metricsToken])

/** An answer that may show secrets, which are kept for the search. */
function noted(text: string): string {
  for (const [token] of text.matchAll(tokens)) secrets.add(token)
  return text
}

beforeAll(async () => {
  const { info, dataFolder } = purser()
  noted(JSON.stringify(info))
  secrets.add(readFileSync(join(dataFolder, 'master.key'), 'utf8').trim())
  for (let i = 0; i < 10; i++) secrets.add(devKey(i).slice(2))
})

test('the level of the log changes by a signal, and lines name operation, trace and decision', async () => {
  const { info } = purser()
  const tools = await devAccount(info, 'in the log')
  await toggleLevel('debug')
  const hash = await tools.send(await tools.sponsored())
  await receiptOf(info, hash)
  const about = (op: string) => logLines().filter((line) => line.op === op)
  const admitted = await until(async () =>
    about(hash).find(({ msg }) => msg === 'operation admitted'),
  )
  expect(admitted).toMatchObject({ trace_id: hash.slice(2, 34) })
  const sponsored = about(hash).find(({ msg }) => msg === 'sponsored')
  expect(sponsored).toMatchObject({ decisionId: expect.any(String), trace_id: hash.slice(2, 34) })
  const withIt = (text: string) =>
    logLines().some(({ msg, ops }) => msg === text && Array.isArray(ops) && ops.includes(hash))
  await until(async () => withIt('bundle signed') && withIt('bundle included'))

  await toggleLevel('info')
  const quiet = await tools.send(await tools.sponsored())
  await receiptOf(info, quiet)
  expect(about(quiet).map(({ msg }) => msg)).toEqual(['sponsored'])
  await toggleLevel('debug')
})

test('an inclusion is counted once, with its time, its cost and what its sponsor paid', async () => {
  const { info } = purser()
  const chain = `chain="${info.chainId}"`
  const read = (name: string, labels = chain) => counterOf(info, name, labels)
  const before = await read('purser_operation_inclusion_seconds_count')
  const tools = await devAccount(info, 'counted')
  const spent = await read('purser_spend_wei_total', 'mode="tank"')
  const hash = await tools.send(await tools.sponsored())
  const receipt = await receiptOf(info, hash)
  await until(async () => (await read('purser_operation_inclusion_seconds_count')) > before)
  expect(await read('purser_operation_inclusion_seconds_count')).toBe(before + 1)
  expect(await read('purser_operation_inclusion_seconds_sum')).toBeGreaterThan(0)
  expect(await read('purser_operations_total', 'outcome="included"')).toBe(before + 1)
  const cost = (await read('purser_spend_wei_total', 'mode="tank"')) - spent
  // Floats keep 53 bits.
  expect(Math.abs(cost / Number(BigInt(receipt.actualGasCost)) - 1)).toBeLessThan(1e-9)
  expect(await read('purser_bundle_cost_wei_total')).toBeGreaterThan(0)
  expect(await read('purser_decisions_total', 'code="SPONSORED"')).toBeGreaterThan(0)
  expect(await read('purser_lease_held')).toBe(1)
  expect(await read('purser_chain_served')).toBe(1)
  expect(await read('purser_executor_ready')).toBeGreaterThan(0)
  expect(await read('purser_head_age_seconds')).toBeLessThan(60)
})

test('no line of the log holds a secret that was made or used in the run', async () => {
  const { info, dataFolder } = purser()
  const { answer } = commands()
  const app = rowsOf(await answer('app', 'list')).find(({ name }) => name === 'development')?.id
  if (app === undefined) throw new Error('the development app is not listed')
  const allow = ['--webhook-allow', '127.0.0.0/8']
  const own = ['--app', app]
  const key = noted(
    await answer('key', 'create', ...own, '--name', 'short', '--methods', 'eth_chainId'),
  )
  noted(await answer('key', 'rotate', labelled(key, 'key'), '--overlap', '60'))
  noted(
    await answer('subscription', 'create', ...own, '--url', 'http://127.0.0.1:9/away', ...allow),
  )
  const { body } = await webhookApi(info, 'POST', {
    headers: { authToken: info.authToken, apiKey: info.apiKey },
    body: { webhookUrl: 'http://127.0.0.1:9/approve', requestType: 'POST' },
  })
  const webhook = [body.data.webhookId, ...own]
  secrets.add((await answer('webhook', 'secret', ...webhook)).trim())

  // Refusals of many kinds, each with a secret somewhere in the request.
  const restricted = labelled(key, 'apiKey')
  await rpc(`${info.url}/api/v3/${info.chainId}/${restricted}`, 'eth_sendUserOperation', [{}])
  await rpc(info.bundlerUrl, 'eth_sendUserOperation', [info.apiKey, metricsToken])
  await rpc(`${info.url}/api/v3/999/${info.apiKey}`, 'eth_chainId', [])
  await fetch(`${info.url}/admin/v1/apps`, { headers: { authToken: metricsToken } })
  await fetch(`${info.url}/metrics`, { headers: { authorization: `Bearer ${info.authToken}` } })
  const tools = await devAccount(info, 'events that fail')
  const refusedOrSent = await tools.sponsored().catch(() => undefined)
  if (refusedOrSent) await receiptOf(info, await tools.send(refusedOrSent))

  const masterKey = Buffer.from(readFileSync(join(dataFolder, 'master.key'), 'utf8').trim(), 'hex')
  const rows = await withBooks(dataFolder, (database) =>
    database.selectFrom('tanks').select('signer_key').execute(),
  )
  expect(rows.length).toBeGreaterThan(0)
  for (const { signer_key } of rows)
    secrets.add(decryptSecret(masterKey, SIGNER_PURPOSE, signer_key).replace(/^0x/, ''))

  await until(async () => logLines().some(({ msg }) => msg === 'call refused'))
  const log = purser()
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .join('\n')
    .toLowerCase()
  // The operator's token, ten executor keys, the master key; keys, tokens, secrets; tanks.
  expect(secrets.size).toBeGreaterThan(17)
  const shown = [...secrets].filter((secret) => {
    const bytes = Buffer.from(secret.replace(/^0x/, ''), 'hex').toString('base64')
    const forms = [secret, encodeURIComponent(secret), ...(bytes.length > 40 ? [bytes] : [])]
    return forms.some((form) => log.includes(form.toLowerCase()))
  })
  expect(shown.map((secret) => `${secret.slice(0, 6)}…`)).toEqual([])
  // The search finds what the log does hold.
  expect(log).toContain(`${info.entryPoints['0.6']}`.toLowerCase())
})
