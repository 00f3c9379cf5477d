import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRandom, type Random } from '../evm/random.js'
import { expectBalancedBooks, withBooks } from '../support/database/books.js'
import { type Estate, type EstateChain, openEstate } from '../support/operator/estate.js'
import type { Answered } from '../support/operator/front.js'
import { type Intent, included, prepare, send } from '../support/service/intents.js'
import { until } from '../support/until.js'

/*
 * Two chains, four replicas behind nginx, and everything that an operator does, under steady traffic of sponsored
 * and self-paid operations: `npm run test:operator -- --minutes 30`.
 */

const minutes = Number(process.env.PURSER_OPERATOR_MINUTES ?? 0)
const seed = Number(process.env.PURSER_SEED ?? 20_261_122)
/** Clients of a chain, and milliseconds between the operations of one. */
const CLIENTS = 2
const PACE = 500

let doing = 'nothing'
let estate: Estate
beforeAll(async () => {
  if (minutes > 0) estate = await openEstate(() => doing)
})
afterAll(() => estate?.stop(), 180_000)

/** What docs/operate/operations.md and docs/build/api.md promise to refuse meanwhile; everything else is a defect. */
const promised: Readonly<Record<string, (answer: Answered) => boolean>> = {
  nothing: () => false,
  rollingRestart: () => false,
  rotateKey: () => false,
  // Replicas that serve the chain no more name those that they serve; one that starts says when to ask again.
  removeAndAddChain: ({ chainId, message, ...answer }) =>
    chainId === secondChain() && (message.includes('not supported by') || isTrouble(answer)),
  nodeAway: isTrouble,
  restartDatabase: isTrouble,
  diskFull: isTrouble,
  // Nobody is there: nginx says so.
  restore: (answer) => [502, 503, 504].includes(answer.status),
}

/** Trouble of the moment: HTTP 503 and -32005, and the client asks again. */
function isTrouble({ code, status }: Pick<Answered, 'code' | 'status'>): boolean {
  return status === 503 && code === -32_005
}

function secondChain(): number {
  return estate.chains[1]!.chainId
}

function isPromised(answer: Answered): boolean {
  return answer.during.some((name) => promised[name]?.(answer))
}

function refused(): Answered[] {
  return estate.front.answered.filter(({ status, code }) => status !== 200 || code !== undefined)
}

function unpromised(): Answered[] {
  return refused().filter((answer) => !isPromised(answer))
}

/** Throws what was refused and should not have been. */
function requireOnlyPromised(): void {
  expect(unpromised().slice(0, 5)).toEqual([])
}

/** Until the step works; what was refused is known to the front, and a sponsorship that is refused is an answer. */
function persist(step: () => Promise<unknown>): Promise<unknown> {
  return until(async () => {
    requireOnlyPromised()
    return step().then(
      () => true,
      (error: Error) => {
        if (/not sponsored|another hash/.test(error.message)) throw error
        return false
      },
    )
  }, 300_000)
}

/** Requests that clients make one after the other, until the end. */
async function runClient(
  chain: EstateChain,
  name: string,
  isOver: () => boolean,
  sent: Intent[],
): Promise<void> {
  for (let count = 0; !isOver(); count++) {
    const payer = count % 2 === 0 ? 'self' : 'tank'
    const intent: Intent = { seed: `${seed} ${name} ${count}`, payer }
    await persist(() => prepare(chain.info(), intent))
    await persist(() => send(chain.info(), intent))
    sent.push(intent)
    await delay(PACE)
  }
}

/** Until every replica is ready for every chain. */
async function ready(): Promise<void> {
  for (const { chainId } of estate.chains)
    for (const url of estate.urls())
      await until(async () => (await fetch(`${url}/health/ready?chain=${chainId}`)).status === 200)
}

/** Until the trouble was met by clients. */
async function met(trouble: string, count: number): Promise<void> {
  await until(async () => {
    requireOnlyPromised()
    return refused().filter(({ during }) => during.includes(trouble)).length >= count
  })
}

const deeds: Readonly<Record<string, (random: Random) => Promise<void>>> = {
  rollingRestart: () => estate.roll(estate.chains),
  rotateKey: () => estate.rotateKey(),
  async removeAndAddChain() {
    await estate.roll(estate.chains.slice(0, 1))
    await met('removeAndAddChain', 3)
    await estate.roll(estate.chains)
  },
  async nodeAway(random) {
    const { node } = random.pick(estate.chains)
    await node.begin({ kind: 'stopped' })
    await met('nodeAway', 3)
    await node.end()
  },
  restartDatabase: () => estate.restartDatabase(),
  async diskFull() {
    if (!estate.hasOwnDisk) return
    const free = estate.fillDisk()
    await met('diskFull', 3)
    free()
  },
  restore: () => estate.restore(),
}

test.skipIf(minutes === 0)(
  `an operator's ${minutes} minutes (seed ${seed})`,
  { timeout: (minutes + 15) * 60_000 },
  async () => {
    const random = createRandom(seed)
    const end = Date.now() + minutes * 60_000
    const sent = new Map(estate.chains.map((chain) => [chain, [] as Intent[]]))
    let isOver = false
    const clients = [...sent].flatMap(([chain, intents]) =>
      Array.from({ length: CLIENTS }, (_, at) =>
        runClient(chain, `${chain.chainId} ${at}`, () => isOver, intents),
      ),
    )
    const done: string[] = []
    const operate = async () => {
      // Each deed once at least, then until the time is over, in a seeded order.
      while (done.length === 0 || Date.now() < end)
        for (const name of shuffled(Object.keys(deeds), random)) {
          doing = name
          await deeds[name]!(random)
          await ready()
          await acknowledgedSince(sent)
          doing = 'nothing'
          done.push(name)
          await acknowledgedSince(sent)
        }
      isOver = true
    }
    await Promise.all([operate(), ...clients]).catch((cause) => {
      throw new Error(`seed ${seed}, ${doing} after ${done.join(', ')}`, { cause })
    })
    report(sent, done)
    requireOnlyPromised()
    for (const [chain, intents] of sent) {
      const info = chain.info()
      const hashes = await included(info, intents)
      await quiet()
      await expectBalancedBooks(estate.folder, info, hashes, chain.deposit)
    }
  },
)

/** Until every chain has acknowledged two more operations. */
async function acknowledgedSince(sent: ReadonlyMap<EstateChain, readonly Intent[]>): Promise<void> {
  for (const intents of sent.values()) {
    const before = intents.length
    await until(async () => {
      requireOnlyPromised()
      return intents.length >= before + 2
    }, 300_000)
  }
}

function shuffled(names: readonly string[], random: Random): string[] {
  return names
    .map((name) => ({ name, order: random.below(2 ** 30) }))
    .sort((a, b) => a.order - b.order)
    .map(({ name }) => name)
}

/** Until no bundle is open, so that the books can be compared. */
function quiet() {
  return until(() =>
    withBooks(estate.folder, async (database) => {
      const open = await database
        .selectFrom('bundles')
        .select('id')
        .where('state', '=', 'signed')
        .execute()
      return open.length === 0
    }),
  )
}

/** The figures of the run, for people. */
function report(sent: ReadonlyMap<EstateChain, readonly Intent[]>, done: readonly string[]): void {
  const counts = new Map<string, number>()
  for (const { during, status, code } of refused()) {
    const name = `${during[0]}: HTTP ${status}${code === undefined ? '' : ` ${code}`}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const figures = {
    front: estate.front.kind,
    requests: estate.front.answered.length,
    acknowledged: [...sent].map(([{ chainId }, { length }]) => ({ chainId, operations: length })),
    deeds: done.join(', '),
    refused: Object.fromEntries(counts),
  }
  process.stdout.write(`${inspect(figures)}\n`)
}
