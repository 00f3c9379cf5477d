import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { createRandom, type Random } from '../evm/random.js'
import { expectBalancedBooks } from '../support/database/books.js'
import { devAccount } from '../support/service/devAccount.js'
import { type Fleet, startFleet } from '../support/service/fleet.js'
import { type Intent, included, intentsOf, prepare } from '../support/service/intents.js'
import type { Replica } from '../support/service/replica.js'
import { until } from '../support/until.js'

const full = process.env.PURSER_FAULTS === 'full'
const seed = Number(process.env.PURSER_SEED ?? 20_261_121)
const size = full ? { operations: 400, troubles: 64 } : { operations: 48, troubles: 8 }

let fleet: Fleet
const acknowledged: `0x${string}`[] = []
beforeAll(async () => {
  fleet = await startFleet(1_009)
})
afterAll(() => fleet?.stop())

type Answer = { readonly result?: `0x${string}`; readonly error?: { readonly code: number } }

/** Sends to any process that serves until one acknowledges; none may refuse for good. */
async function persist(intent: Intent, random: Random): Promise<void> {
  const info = fleet.info()
  const account = await devAccount(info, intent.seed)
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_sendUserOperation',
    params: [toInterfaceOperation(intent.op!), account.entryPoint],
  })
  const serving = fleet.replicas.filter(({ role }) => role === 'api')
  intent.acknowledged = await until(async () => {
    const url = `${random.pick(serving).url()}/api/v2/${info.chainId}/${info.apiKey}`
    const signal = AbortSignal.timeout(2_000)
    const answer = await fetch(url, { method: 'POST', body, signal })
      .then(async (response) => ({
        status: response.status,
        body: (await response.json()) as Answer,
      }))
      .catch(() => undefined)
    if (!answer) return undefined
    if (answer.body.error) expect([answer.status, answer.body.error.code]).toEqual([503, -32005])
    return answer.body.result
  })
  expect(intent.acknowledged).toBe(account.hashOf(intent.op!))
}

/** Something goes wrong; resolves when it is over, but for processes that start meanwhile. */
const troubles: Readonly<Record<string, (random: Random) => Promise<void>>> = {
  kill: (random) => restart(random.pick(fleet.replicas), 'SIGKILL'),
  replace: (random) => restart(random.pick(fleet.replicas), 'SIGTERM'),
  pause: (random) => pause([random.pick(fleet.replicas)], random),
  pauseAllBundlers: (random) => pause(ofRole('bundler'), random),
  killLeader: async () => {
    for (const each of await fleet.leaders()) await restart(each, 'SIGKILL')
  },
  pauseLeader: async (random) => pause(await fleet.leaders(), random),
  cutSessions: () => fleet.cutSessions().catch(() => {}),
  restartDatabase: () => fleet.restartDatabase(),
}

function ofRole(role: Replica['role']) {
  return fleet.replicas.filter((each) => each.role === role)
}

/** A process that cannot start because the database is away at that moment is started again. */
async function restart(replica: Replica, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  await replica.end(signal)
  if (signal === 'SIGKILL') await fleet.expireLeases()
  await until(() =>
    replica.start().then(
      () => true,
      () => false,
    ),
  )
}

/** Milliseconds that processes are paused at most. */
const LONGEST_PAUSE = 3_750

/** Now and then leases end meanwhile, so that a former holder comes back to life. */
async function pause(replicas: readonly Replica[], random: Random): Promise<void> {
  for (const each of replicas) each.pause()
  if (random.below(2) === 0) await fleet.expireLeases()
  await delay(random.below(LONGEST_PAUSE))
  for (const each of replicas) each.resume()
}

test(`what is acknowledged is included once, whatever happens to whom (seed ${seed})`, {
  timeout: full ? 1_200_000 : 240_000,
}, async () => {
  const random = createRandom(seed)
  const intents = intentsOf(`replicas ${seed}`, size.operations)
  for (const intent of intents) await prepare(fleet.info(), intent)

  const happened: string[] = []
  const storm = async () => {
    for (const name of shuffled(size.troubles, random)) {
      happened.push(name)
      await troubles[name]!(random)
    }
  }
  // The operations are spread over the troubles, so that each finds some on their way.
  const sendAll = intents.map(async (intent, place) => {
    const due = 1 + Math.floor((place * size.troubles) / intents.length)
    await until(async () => happened.length >= due, 600_000)
    await persist(intent, random)
  })
  await Promise.all([storm(), ...sendAll]).catch((cause) => {
    throw new Error(`seed ${seed}, after ${happened.join(', ')}`, { cause })
  })

  const info = fleet.info()
  acknowledged.push(...(await included(info, intents)))
  await fleet.quiet()
  await expectBalancedBooks(fleet.folder, info, acknowledged, fleet.deposit)
})

/** Names of troubles, each as often as the others, in some order. */
function shuffled(count: number, random: Random): string[] {
  const names = Object.keys(troubles)
  return Array.from({ length: count }, (_, place) => names[place % names.length]!)
    .map((name) => ({ name, order: random.below(2 ** 30) }))
    .sort((a, b) => a.order - b.order)
    .map(({ name }) => name)
}

test('processes are replaced one after the other without one refused request', async () => {
  const ready = async (replica: Replica): Promise<boolean> =>
    replica.isRunning() &&
    (await fetch(`${replica.url()}/health/ready?role=${replica.role}`).then(
      ({ ok }) => ok,
      () => false,
    ))
  const info = fleet.info()
  let going = true
  let answered = 0
  /** What a load balancer does: ask who is ready now and then, and send there. */
  const client = async () => {
    while (going) {
      const [target] = (
        await Promise.all(ofRole('api').map(async (each) => ((await ready(each)) ? [each] : [])))
      ).flat()
      expect(target).toBeDefined()
      const { status } = await fetch(`${target!.url()}/api/v2/${info.chainId}/${info.apiKey}`, {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"biconomy_getGasFeeValues","params":[]}',
      })
      expect(status).toBe(200)
      answered += 1
    }
  }
  const rolling = async () => {
    for (const replica of fleet.replicas) {
      await restart(replica, 'SIGTERM')
      await until(() => ready(replica))
    }
    going = false
  }
  await Promise.all([rolling(), client()])
  expect(answered).toBeGreaterThan(10)
  await until(async () => (await fleet.leaders()).length === 1)
})
