import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { chromiumPath } from '../console/browser.js'
import { consoleTitle, useConsole } from '../console/useConsole.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { type Json, rpc } from '../support/http/jsonRpc.js'
import { commandsOn } from '../support/service/cliAnswers.js'
import { clientView } from '../support/service/clientView.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { metricsToken } from '../support/service/metricsOf.js'
import { servedChain, servedChains } from '../support/service/servedChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

/*
 * The node of one of two chains dies under a running service: the API, the alert and the first screen of the console must say
 * the same of it, and of the other chain.
 */

const DEAD = 1_532
const email = 'operator@example.com'
const password = 'seven grey elephants, walking'

/** The alert on a head that nobody has heard of: its metric and its bound. */
const [, metric = '', bound = ''] =
  /^min by \(chain\) \((\w+)\) > (\d+)$/.exec(ruleOf('PurserHeadStale').expr) ?? []

function ruleOf(name: string): Json {
  const { groups } = parse(readFileSync('deploy/prometheus/purser.rules.yml', 'utf8')) as Json
  return groups.flatMap(({ rules }: Json) => rules).find(({ alert }: Json) => alert === name)
}

const opened = useConsole()
let healthy: PublicChain
let dead: PublicChain
let node: TroubledNode
let folder = ''
let service: RunningService

beforeAll(async () => {
  folder = makeDataFolder()
  ;[healthy, dead] = await Promise.all([startPublicChain(1_531), startPublicChain(DEAD)])
  node = await startTroubledNode(dead.rpcUrl)
  const chains = [servedChain(healthy), servedChain({ chainId: DEAD, rpcUrl: node.url })]
  const flags = ['--data', folder, '--port', '0', '--drain-seconds', '0']
  service = await startService(
    ['serve', ...flags, '--operator-token', metricsToken],
    servedChains(chains, { PURSER_ADMIN_EMAIL: email, PURSER_ADMIN_PASSWORD: password }),
  )
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await node?.stop()
  await Promise.all([healthy?.stop(), dead?.stop()])
  removeDataFolder(folder)
})

const authorized = { headers: { authorization: `Bearer ${metricsToken}` } }

async function isReady(chainId: number): Promise<boolean> {
  const { status } = await fetch(`${urlOf(service)}/health/ready?chain=${chainId}`)
  return status === 200
}

/** Whether the API says that the nodes of the chain answer. */
async function isAnswering(chainId: number): Promise<boolean> {
  const answer = await fetch(`${urlOf(service)}/admin/v1/chains`, authorized)
  const { items } = (await answer.json()) as Json
  return items.find((chain: Json) => chain.chainId === chainId).answers
}

/** Whether the expression of the alert holds for the chain now. */
async function isAlerting(chainId: number): Promise<boolean> {
  const text = await (await fetch(`${urlOf(service)}/metrics`, authorized)).text()
  const [, value] =
    new RegExp(`^${metric}\\{[^}]*chain="${chainId}"[^}]*\\} (\\S+)$`, 'm').exec(text) ?? []
  expect(value, metric).toBeDefined()
  return Number(value) > Number(bound)
}

/** What all say of a chain: readiness, the list of chains, the alert. */
async function verdicts(chainId: number): Promise<readonly boolean[]> {
  return [await isReady(chainId), await isAnswering(chainId), !(await isAlerting(chainId))]
}

describe('the node of one chain dies', () => {
  test('before, all say that both chains are fine', async () => {
    expect(await verdicts(healthy.chainId)).toEqual([true, true, true])
    expect(await verdicts(DEAD)).toEqual([true, true, true])
    if (chromiumPath === undefined) return
    const { page, appears } = opened()
    await page.goto(`${urlOf(service)}/console/sign-in`)
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Screens' }).waitFor()
    await page.goto(`${urlOf(service)}/console/overview`)
    await appears('Nothing needs you')
  })

  test('then all say that this one does not answer, and the other one serves', async () => {
    const { apiKey, appId, authToken } = await commandsOn(folder).tenant('dead node')
    const view = clientView(healthy, urlOf(service), apiKey)
    await node.begin({ kind: 'stopped' })
    await until(async () => !(await isReady(DEAD)))
    await until(async () => isAlerting(DEAD))
    expect(await verdicts(DEAD)).toEqual([false, false, false])
    expect(await verdicts(healthy.chainId)).toEqual([true, true, true])

    const { bundlerUrl } = clientView(dead, urlOf(service), apiKey)
    const { status, body } = await rpc(bundlerUrl, 'biconomy_getGasFeeValues', [])
    expect({ status, code: body.error?.code }).toEqual({ status: 503, code: -32_005 })
    const fees = await fetch(`${urlOf(service)}/admin/v1/apps/${appId}/fees/${healthy.chainId}`, {
      headers: { authToken },
    })
    const { head, headAge } = (await fees.json()) as Json
    expect(head).toBeGreaterThan(0)
    expect(headAge).toBeLessThan(Number(bound) * 1_000)
    const account = await devAccount(view, 'with a dead node')
    expect((await receiptOf(view, await account.send(await account.selfPaid()))).success).toBe(
      'true',
    )
  })

  test.skipIf(chromiumPath === undefined)(consoleTitle('so does the overview'), async () => {
    const { page, appears, expectFine } = opened()
    await page.goto(`${urlOf(service)}/console/overview`)
    const needs = page.getByRole('list', { name: 'What needs attention' })
    await needs.getByText('its nodes do not answer').waitFor()
    expect(await needs.getByRole('listitem').count()).toBe(1)
    expect(await page.getByText('Nothing needs you').count()).toBe(0)
    await page.getByRole('region', { name: 'Chains' }).getByText('node away').waitFor()
    await expectFine('overview-node-away')
    await node.end()
    await until(async () => isReady(DEAD))
    await page.reload()
    await appears('Nothing needs you')
  })

  test('afterwards all say again that both are fine', async () => {
    await node.end()
    await until(async () => isReady(DEAD))
    expect(await verdicts(DEAD)).toEqual([true, true, true])
  })
})
