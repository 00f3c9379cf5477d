import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpNode, startHttpNode } from '../support/chain/httpNode.js'
import { type RpcAnswer, rpc } from '../support/http/jsonRpc.js'
import { createKey } from '../support/service/createKey.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'

/*
 * The attacker aims at the operator's node: with the key of an app it asks for eth_call as fast as it can, of a contract that keeps the
 * node busy. What reaches the node is counted there.
 */

/** The contract that keeps the node busy, and the milliseconds for which each call of it does. */
const BUSY = `0x${'b0'.repeat(20)}`
const HELD = 100
/** Calls of one app that may be under way at once, and the connections that reads have to a node. */
const MOST_OF_APP = 16
const CONNECTIONS = 16
/** Units that eth_call costs, and those of a key per second, of which two seconds may come at once. */
const COST = 5
const RATE = 100

let serving: Serving
let node: HttpNode
/** The attacker's calls at the node: those under way, the most that were at once, all of them. */
const met = { underWay: 0, most: 0, all: 0 }
let held = HELD

beforeAll(async () => {
  serving = await prepareServing(1_045, async ({ rpcUrl }) => {
    node = await startHttpNode(async (body, response) => {
      const text = JSON.stringify(body)
      const isBusy = text.includes(BUSY)
      if (isBusy) {
        met.all += 1
        met.underWay += 1
        met.most = Math.max(met.most, met.underWay)
        // Answered, or given up by the service, which takes another connection then.
        response.once('close', () => {
          met.underWay -= 1
        })
        await delay(held)
      }
      const headers = { 'content-type': 'application/json' }
      try {
        const answer = await fetch(rpcUrl, { method: 'POST', headers, body: text })
        response.end(await answer.text())
      } catch {
        // The chain has been stopped.
        response.destroy()
      }
    })
    return { rpcUrls: [node.url] }
  })
})
afterAll(async () => {
  await serving?.stop()
  await node?.stop()
})

const call = (url: string): Promise<RpcAnswer> =>
  rpc(url, 'eth_call', [{ to: BUSY, data: '0x' }, 'latest'])

/** Asks by each URL, `atOnce` requests under way of each, until `end`, which resolves to what was answered. */
function flood(urls: readonly string[], atOnce: number) {
  Object.assign(met, { most: 0, all: 0 })
  const answers: RpcAnswer[] = []
  let isOver = false
  const keepAsking = async (url: string): Promise<void> => {
    while (!isOver) {
      const answer = await call(url)
      answers.push(answer)
      // What is refused costs the node nothing.
      if (answer.body.error) await delay(HELD)
    }
  }
  const asking = urls.flatMap((url) => Array.from({ length: atOnce }, () => keepAsking(url)))
  return {
    answers,
    async end(): Promise<readonly RpcAnswer[]> {
      isOver = true
      await Promise.all(asking)
      for (const { body } of answers) expect([undefined, -32_005]).toContain(body.error?.code)
      return answers
    },
  }
}

/** Milliseconds until three operations, one after the other, are estimated, sent and included. */
async function timeOfOperations(name: string): Promise<number> {
  const begin = performance.now()
  for (const intent of intentsOf(name, 3).map((each) => ({ ...each, payer: 'self' as const }))) {
    await prepare(serving.info(), intent)
    await send(serving.info(), intent)
    await included(serving.info(), [intent])
  }
  return performance.now() - begin
}

/** Milliseconds within which they are to be, where they take `alone` without an attack: it costs cores here, and no places. */
const bound = (alone: number): number => 10 * alone + 10_000

test('the calls of one app take its places alone: other apps read, and operations are bundled', async () => {
  await serving.start()
  const other = await createKey(serving.info(), 'other')
  const alone = await timeOfOperations('alone')
  const attack = flood([serving.info().standardUrl], 100)
  const attacked = await timeOfOperations('attacked')
  for (let time = 0; time < 20; time++) {
    const before = attack.answers.length
    const { body } = await rpc(other, 'eth_getBalance', [BUSY, 'latest'])
    expect(body.result).toBe('0x0')
    // It waits for none of them; some end meanwhile.
    expect(attack.answers.length - before).toBeLessThan(3 * MOST_OF_APP)
  }
  await attack.end()
  expect(met.most).toBe(MOST_OF_APP)
  expect(attacked).toBeLessThan(bound(alone))
})

test('those of many apps are bounded together, and operations are bundled', async () => {
  const keys = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((each) => createKey(serving.info(), `attacker ${each}`)),
  )
  const alone = await timeOfOperations('alone without load')
  const attack = flood(keys, 30)
  const attacked = await timeOfOperations('attacked by many')
  const answers = await attack.end()
  expect(met.most).toBe(CONNECTIONS)
  // 64 are under way in all, with those that wait for a connection: the others are refused.
  expect(answers.some(({ body }) => body.error?.data.underWay === 64)).toBe(true)
  expect(attacked).toBeLessThan(bound(alone))
})

test('a key has no more calls at the node than its rate allows', async () => {
  await serving.start({ PURSER_KEY_RATE: String(RATE) })
  held = 0
  const begin = performance.now()
  const attack = flood([serving.info().standardUrl], 32)
  await delay(4_000)
  const answers = await attack.end()
  const seconds = (performance.now() - begin) / 1_000
  expect(met.all).toBeLessThanOrEqual(Math.ceil((RATE * (seconds + 2)) / COST))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.every(({ body }) => body.error?.data.limit === 'key')).toBe(true)
})
