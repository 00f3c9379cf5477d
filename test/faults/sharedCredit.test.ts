import { formatEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { greatest } from '../../src/base/bigints.js'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { readCreditUse } from '../../src/paymaster/ledger/funds.js'
import { paidByTank, tankDeposit, withBooks } from '../support/database/books.js'
import { commandsOn } from '../support/service/cliAnswers.js'
import { devAccount } from '../support/service/devAccount.js'
import { type Fleet, startFleet } from '../support/service/fleet.js'
import { type Intent, included, send } from '../support/service/intents.js'
import { until } from '../support/until.js'

/*
 * The operator's tank pays for an app with credit. An attacker with the app's key asks two processes at once for more than the credit
 * holds, from new senders each time, and again as soon as some of it is settled. No process may promise what the other has promised.
 */

/** Sponsorships that the credit covers, about: the fees move a little meanwhile. */
const COVERED = 16n
/** Requests at once, half of them of each process. */
const ASKED = 48
/** wei that cover one for certain. */
const FIRST = 10n ** 17n

let fleet: Fleet
let appId: string
let fundId: string

beforeAll(async () => {
  fleet = await startFleet(1_044)
  const app = await withBooks(fleet.folder, (database) =>
    database.selectFrom('apps').select('id').executeTakeFirstOrThrow(),
  )
  appId = app.id
  const on = ['--chain', String(fleet.info().chainId)]
  await tank('deposit', '--shared', ...on, '--amount', '10', '--key', 'env:OWNER_KEY')
  await tank('mode', '--app', appId, ...on, '--mode', 'shared')
  const fund = await withBooks(fleet.folder, (database) =>
    database.selectFrom('funds').select('id').where('app_id', '=', appId).executeTakeFirstOrThrow(),
  )
  fundId = fund.id
})
afterAll(async () => {
  isOver = true
  await watching
  await fleet?.stop()
})

function tank(...args: readonly string[]): Promise<string> {
  return commandsOn(fleet.folder, fleet.environment).answer('tank', ...args)
}

/** A credit, or where `wei` is negative what is taken back of it. */
async function addCredit(wei: bigint, reference: string): Promise<void> {
  const on = ['--app', appId, '--chain', String(fleet.info().chainId)]
  await tank('credit', ...on, `--amount=${formatEther(wei)}`, '--reference', reference)
}

/** wei of the app's reservations at one moment: what open ones may cost, and what the others have cost. */
function booked() {
  return withBooks(fleet.folder, async (database) => {
    const rows = await database
      .selectFrom('reservations')
      .select(['state', 'max_cost', 'actual_cost'])
      .where('app_id', '=', appId)
      .execute()
    const open = rows.filter(({ state }) => state === 'open')
    return {
      open: open.length,
      promised: open.reduce((sum, { max_cost }) => sum + max_cost, 0n),
      paid: rows.reduce((sum, { actual_cost }) => sum + (actual_cost ?? 0n), 0n),
    }
  })
}

const creditUse = () => withBooks(fleet.folder, (database) => readCreditUse(database, fundId))

/** The most that was booked and used at any look, in wei; looks go on until `isOver`. */
const most = { booked: 0n, used: 0n }
let isOver = false
let watching: Promise<void> | undefined

async function watchBooks(): Promise<void> {
  while (!isOver) {
    const { promised, paid } = await booked()
    most.booked = greatest(most.booked, promised + paid)
    most.used = greatest(most.used, (await creditUse()).used)
  }
}

/** The credit is used up, or new senders have left a part of it unsent that only others may have. */
const isRefusal = (message: string) => /CREDIT_EMPTY|TOO_MUCH_UNSENT/.test(message)

/** Asks one process or the other until it is granted or refused for the credit. */
function ask(at: number): Promise<Intent | 'refused'> {
  const intent: Intent = { seed: `shared credit ${at}`, payer: 'tank' }
  return until(async () => {
    const url = fleet.replicas[at % 2]!.url()
    const { bundlerUrl, ...info } = fleet.info()
    const path = bundlerUrl.replace(info.url, url)
    const account = await devAccount({ ...info, bundlerUrl: path, paymasterUrl: path }, intent.seed)
    return account.sponsored().then(
      (op) => ({ ...intent, op }),
      ({ message }: Error) => (isRefusal(message) ? 'refused' : undefined),
    )
  })
}

/** What an attack of `ASKED` requests at once is granted. */
async function attack(first: number): Promise<readonly Intent[]> {
  const asked = await Promise.all(Array.from({ length: ASKED }, (_, at) => ask(first + at)))
  const granted = asked.flatMap((each) => (each === 'refused' ? [] : each))
  expect(granted.length).toBeLessThan(ASKED)
  return granted
}

/** Sends what was granted, and makes its inclusion final. */
async function sendAll(granted: readonly Intent[]): Promise<void> {
  for (const intent of granted) await send(fleet.info(), intent)
  await included(fleet.info(), granted)
  await anvilClient(fleet.info().rpcUrl).mine({ blocks: 100 })
  await until(async () => {
    const { used, settled } = await creditUse()
    return used === settled
  })
}

test('two processes promise no more than the credit, and it is charged what the chain says', async () => {
  const { folder } = fleet
  await addCredit(FIRST, 'the first')
  const one = await ask(-2)
  if (one === 'refused') throw new Error('the credit covers one for certain')
  const { promised: each } = await booked()
  const limit = (COVERED + 1n) * each
  await addCredit(limit - FIRST, 'what the attack is not to have')

  watching = watchBooks()
  const first = [one, ...(await attack(0))]
  const held = await booked()
  expect(held.open).toBe(first.length)
  // None was refused that the credit would have covered.
  expect(held.promised + held.paid + each * 2n).toBeGreaterThan(limit)

  await sendAll(first)
  // What they did not use is free again.
  const second = await attack(ASKED)
  expect(second.length).toBeGreaterThan(0)
  await sendAll(second)
  const { paid } = await booked()
  expect(most.booked).toBeLessThanOrEqual(limit)
  // What was taken back counts as used.
  expect(most.used).toBeLessThanOrEqual(FIRST)
  expect(most.used).toBeGreaterThan(FIRST - each * 2n)
  expect(await creditUse()).toEqual({ used: paid + FIRST - limit, settled: paid + FIRST - limit })

  const shared = await withBooks(folder, (database) =>
    database
      .selectFrom('tanks')
      .select('address')
      .where('app_id', 'is', null)
      .executeTakeFirstOrThrow(),
  )
  const info = { ...fleet.info(), tanks: { '0.6': shared.address } }
  const { chain } = await paidByTank(folder, info)
  expect(chain).toHaveLength(first.length + second.length)
  const cost = chain.reduce((sum, entry) => sum + entry.cost, 0n)
  expect(await tankDeposit(info)).toBe(10n ** 19n - cost)
  // The app pays its share of a bundle, which may be less than the bundle charged the tank.
  expect(cost).toBeLessThanOrEqual(limit)
  expect(paid).toBeLessThanOrEqual(cost)
  expect(paid).toBeGreaterThan((cost * 3n) / 4n)
})
