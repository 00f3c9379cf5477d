import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { type Json, result, rpc } from '../support/http/jsonRpc.js'
import { webhookApi } from '../support/http/webhookApi.js'
import { useWebhookServer } from '../support/http/webhookServer.js'
import {
  findPrometheus,
  type Prometheus,
  type Sample,
  startPrometheus,
} from '../support/monitoring/prometheus.js'
import { adminGet } from '../support/service/adminGet.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { metricsToken } from '../support/service/metricsOf.js'
import { makeDataFolder, removeDataFolder, runCli } from '../support/service/startPurser.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * Board and alerts as an operator has them: Prometheus reads a running service with the configuration of
 * deploy/compose and the rules of deploy/prometheus, and is asked whatever the board and the rules ask.
 */

/** What has no answer here: a part of the expression, and why. */
const absent: Readonly<Record<string, string>> = {
  absent: 'the service is there',
  'outcome="failed"': 'the node answers whatever it is asked',
  'role="treasury"': 'the development chain has no treasury',
  'offset 1h': 'the service does not run for an hour',
  purser_fee_ceiling_reached: 'there is no ceiling',
  purser_fork_time_seconds: 'the development chain announces no rules',
  purser_rules_waived_total: 'there is no exception to the rules',
}

/** What is 0 here, or a quotient of zeros: a part of the expression, and why. */
const still: Readonly<Record<string, string>> = {
  'outcome=~"failed|dropped"': 'every operation is included and succeeds',
  '1 - sum(rate(purser_event_deliveries_total': 'every event is delivered',
  'ALERTS{': 'no alert fires',
  purser_bundle_gas_compared_total: 'no entity has a stake',
  purser_bundle_replacements_total: 'no bundle is stuck',
  purser_bundles_uncovered_total: 'every bundle is covered',
  purser_data_fee_compared_total: 'the chain has no data fee',
  purser_db_pool_used: 'a connection is in use for moments',
  purser_db_pool_waiting: 'there are connections enough',
  purser_decisions_unrecorded_total: 'few are refused',
  purser_executor_in_flight: 'all bundles are mined',
  purser_index_lag_blocks: 'the index has read the head',
  purser_internal_errors_total: 'there is none',
  purser_lease_lost_total: 'one process bundles',
  purser_node_paused: 'the node answers',
  purser_operations_attributed_total: 'no operation has a data suffix',
  purser_pool_operations: 'all operations are included',
  purser_rate_limited_total: 'nobody asks too much',
  purser_refusals_unrecorded_total: 'the database is there',
  purser_relay_bundles_total: 'there is no relay',
  purser_reorg_depth_blocks: 'no block is replaced',
  purser_signing_duration_seconds: 'no key is in a key service',
  purser_tank_low: 'no tank is below its alert',
  'purser_validations_compared_total{outcome="differs"}': 'our EVM and the node agree',
  purser_surplus_returned_wei_total: 'no surplus is worth a transaction yet',
  'purser_validations_recalled_total{outcome="differs"}': 'the same state gives the same verdict',
  purser_witnesses_total: 'no operation fails',
  purser_webhook_circuits_opened_total: 'the webhook answers',
}

const board: Json = JSON.parse(readFileSync('deploy/grafana/purser.json', 'utf8'))

/** An expression as the board sends it when it is opened: for all chains and apps, over a day. */
function expand(expr: string): string {
  const variables = board.templating.list.filter(({ type }: Json) => type === 'query')
  const filled = variables.reduce(
    (text: string, { name, allValue }: Json) => text.replaceAll(`$${name}`, allValue),
    expr.replaceAll('$__rate_interval', '5m'),
  )
  expect(filled).not.toContain('$')
  return filled
}

/** What a rule compares: its expression without comparisons, numbers and `and`. */
function operandsOf(query: string): string[] {
  const parts = query.split(/ (?:and on ?\(\w+\)|and|[<>]|[=!<>]=) /)
  return parts.filter((part) => !/^[\d.e+]+$/.test(part))
}

/** Whether an answer has a number other than 0. */
function tellsSomething(samples: readonly Sample[]): boolean {
  return samples.some(
    ({ value: [, value] }) => Number.isFinite(Number(value)) && Number(value) !== 0,
  )
}

function isListed(list: Readonly<Record<string, string>>, expr: string): boolean {
  return Object.keys(list).some((part) => expr.includes(part))
}

const binary = findPrometheus()

describe.skipIf(binary === undefined)(
  'a real Prometheus (skipped where neither PURSER_PROMETHEUS nor the path names one)',
  () => {
    const service = useRunningPurser([
      ...['--operator-token', metricsToken],
      ...['--webhook-allow', '127.0.0.1'],
    ])
    const hook = useWebhookServer()
    const folder = makeDataFolder()
    let prometheus: Prometheus

    /** The configuration that compose mounts, with addresses and times of a test. */
    function config(): Json {
      const shown: Json = parse(readFileSync('deploy/compose/prometheus.yml', 'utf8'))
      const [job] = shown.scrape_configs
      const token = join(folder, 'token')
      writeFileSync(token, metricsToken)
      job.authorization.credentials_file = token
      job.static_configs[0].targets = [new URL(service().info.url).host]
      return {
        ...shown,
        global: { scrape_interval: '250ms', evaluation_interval: '250ms' },
        rule_files: [resolve('deploy/prometheus/purser.rules.yml')],
      }
    }

    /** Lets the app ask a webhook before it sponsors, and tell another one what happened. */
    async function addWebhooks(): Promise<void> {
      const { info, dataFolder } = service()
      const { answer } = commandsOn(dataFolder)
      const [app] = rowsOf(await answer('app', 'list'))
      const where = ['--app', app?.id ?? '', '--url', hook.url(), '--webhook-allow', '127.0.0.1']
      await answer('subscription', 'create', ...where)
      const body = { webhookUrl: hook.url(), requestType: 'POST' }
      expect((await webhookApi(info, 'POST', { body })).status).toBe(200)
    }

    /** Operations that pay by themselves, are sponsored with and without approval, pay in tokens; refusals. */
    async function traffic(seed: string): Promise<void> {
      const { info, dataFolder } = service()
      const demo = await runCli(['demo', '--data', dataFolder])
      expect(demo).toMatchObject({ code: 0, stderr: '' })

      const account = await devAccount(info, seed)
      const fees = await result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
      const draft = account.withGas(await account.account.draft({ to: account.entryPoint }), fees)
      const mode = { mode: 'SPONSORED', sponsorshipInfo: { webhookData: { seed } } }
      const ask = () =>
        result(info.paymasterUrl, 'pm_sponsorUserOperation', [toInterfaceOperation(draft), mode])
      expect((await ask()).sponsorship.code).toBe('SPONSORED')
      hook.answer = { status: 200, body: '{"arePoliciesVerified":false}' }
      expect((await ask()).sponsorship.code).toBe('WEBHOOK_DENIED')

      const { body } = await rpc(info.bundlerUrl, 'eth_sendUserOperation', [{}])
      expect(body.error).toBeDefined()
      await adminGet(info, '/apps')
      await receiptOf(info, await account.send(await account.selfPaid()))
    }

    const total = async (expr: string) =>
      Number((await prometheus.query(`sum(${expr})`))[0]?.value[1] ?? 0)

    beforeAll(async () => {
      prometheus = await startPrometheus(binary ?? '', join(folder, 'prometheus'), config())
    })
    afterAll(async () => {
      await prometheus?.stop()
      removeDataFolder(folder)
    })

    test('reads the service, before and after operations of every kind', async () => {
      await until(async () => (await total('purser_chain_served')) === 1)
      const { activeTargets } = await prometheus.ask('targets')
      expect(activeTargets).toMatchObject([{ health: 'up', scrapePool: 'purser' }])
      await addWebhooks()
      // A series that comes with its first event rises with the second.
      const included = 'purser_operations_total{outcome="included"}'
      for (const [round, ofRound] of ['first', 'second'].entries()) {
        hook.answer = { status: 200, body: '{"arePoliciesVerified":true}' }
        await traffic(ofRound)
        await until(async () => (await total(included)) === 4 * (round + 1))
      }
    })

    /** Asks until every expression answers as the lists say, and no other way. */
    async function expectAnswers(exprs: readonly string[]): Promise<void> {
      let wrong: string[] = []
      const judge = async (expr: string): Promise<string[]> => {
        const samples = await prometheus.query(expr)
        const isAbsent = isListed(absent, expr)
        if (isAbsent !== (samples.length === 0)) return [`${samples.length} series: ${expr}`]
        const isQuiet = isAbsent || isListed(still, expr) || tellsSomething(samples)
        return isQuiet ? [] : [`nothing but 0: ${expr}`]
      }
      await until(async () => {
        wrong = (await Promise.all(exprs.map(judge))).flat()
        return wrong.length === 0
      }).catch((cause) => {
        throw new Error(wrong.join('\n'), { cause })
      })
    }

    const shown = board.panels.flatMap(({ targets = [] }: Json) =>
      targets.map(({ expr }: Json) => expand(expr)),
    ) as string[]

    test('answers every expression of the board', async () => {
      expect(shown.length).toBeGreaterThan(40)
      await expectAnswers(shown)
      for (const { type, definition } of board.templating.list) {
        if (type !== 'query') continue
        const [, name = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? []
        const values = await prometheus.ask(`label/${label}/values?match[]=${name}`)
        expect(values, definition).not.toEqual([])
      }
    })

    test('evaluates every alert: what it compares is there, and none fires', async () => {
      const rules = await until(async () => {
        const loaded = await prometheus.rules()
        return loaded.every(({ health }) => health !== 'unknown') && loaded
      })
      expect(rules.filter(({ health, state }) => health !== 'ok' || state === 'firing')).toEqual([])
      const operands = rules.flatMap(({ query }) => operandsOf(query))
      expect(operands.length).toBeGreaterThan(rules.length)
      await expectAnswers(operands)
      const asked = [...shown, ...operands]
      const known = Object.keys({ ...absent, ...still })
      expect(known.filter((part) => !asked.some((expr) => expr.includes(part)))).toEqual([])
    })
  },
)
