import fc from 'fast-check'
import { type Address, type Hex, zeroAddress, zeroHash } from 'viem'
import { encodeAbiParameters, pad, toEventSelector } from 'viem/utils'
import { expect, test } from 'vitest'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { BookedMoney } from './ledger/bookedMoney.js'
import type { ChainCharge, ChainMoney, DepositChange } from './chainMoney.js'
import { compareLedger } from './compareLedger.js'

const entryPoint: Address = `0x${'e0'.repeat(20)}`
const tanks = [1, 2].map((n): Address => `0x${String(n).repeat(40)}`)

function hashOf(n: number): Hex {
  return `0x${n.toString(16).padStart(64, '0')}`
}

/** A movement of a tank's money; every one is in a block of its own. */
const movement = fc.record({
  tank: fc.constantFrom(...tanks),
  kind: fc.constantFrom('charged' as const, 'deposited' as const, 'withdrawn' as const),
  amount: fc.bigInt({ min: 1n, max: 10n ** 18n }),
})

type Movement = typeof movement extends fc.Arbitrary<infer Value> ? Value : never

/** What the chain logs of these movements, the deposits that they leave, and the ledger that agrees with it. */
function worldOf(movements: readonly Movement[]) {
  const balances = new Map(tanks.map((tank) => [tank, 10n ** 21n]))
  const charges: ChainCharge[] = []
  const deposits: DepositChange[] = []
  for (const [tank, total] of balances)
    deposits.push({ ...place(0), entryPoint, tank, kind: 'deposited', total })
  for (const [at, { tank, kind, amount }] of movements.entries()) {
    const total = (balances.get(tank) ?? 0n) + (kind === 'deposited' ? amount : -amount)
    balances.set(tank, total)
    const common = { ...place(at + 1), entryPoint, tank }
    if (kind === 'deposited') deposits.push({ ...common, kind, total })
    else if (kind === 'withdrawn') deposits.push({ ...common, kind, amount })
    else {
      const userOpHash = hashOf(at + 1)
      charges.push({ ...common, userOpHash, sender: entryPoint, success: true, cost: amount })
    }
  }
  const chain: ChainMoney = { charges, deposits, payments: new Map() }
  return { chain, books: booksOf(charges), deposits: tanks.map((tank) => balances.get(tank) ?? 0n) }
}

function place(n: number) {
  return { blockNumber: BigInt(n), logIndex: n, transactionHash: hashOf(1_000_000 + n) }
}

function booksOf(charges: readonly ChainCharge[]): BookedMoney {
  return {
    newest: { number: 1_000n, hash: hashOf(1_000) },
    tanks: tanks.map((address) => ({
      appId: null,
      entryPoint,
      address,
      kind: 'gas',
      createdAt: new Date(0),
    })),
    charges,
    reservations: charges.map(({ tank, userOpHash, blockNumber, cost }, at) => ({
      id: BigInt(at),
      entryPoint,
      tank,
      userOpHash,
      blockNumber,
      cost: cost - cost / 3n,
      rebate: cost / 3n,
      charged: cost - cost / 3n,
      fundId: null,
      transactionHash: null,
      granted: null,
    })),
    payments: [],
    credits: [],
  }
}

function compare(world: ReturnType<typeof worldOf>, from = 0n) {
  const range = { from, kept: 0n, to: 1_000n }
  return compareLedger({ ...world, receipts: new Map(), range, keptSince: 0 })
}

const movements = fc.array(movement, { minLength: 1, maxLength: 60 })

test('a ledger that books what the chain logs agrees with it, deposits included', () => {
  fc.assert(
    fc.property(movements, (some) => {
      const world = worldOf(some)
      const accounts = compare(world)
      expect(accounts.filter(({ first }) => first)).toEqual([])
      for (const { stated, derived } of accounts) expect(derived).toBe(stated)
    }),
  )
})

test('one wei in any entry is located, the earliest of each tank first', () => {
  const plant = fc.tuple(fc.nat(), fc.constantFrom('charge', 'cost', 'rebate', 'charged'))
  fc.assert(
    fc.property(
      movements.filter((some) => some.some(({ kind }) => kind === 'charged')),
      fc.array(plant, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(1n, -1n),
      (some, plants, wei) => {
        const world = worldOf(some)
        const charges = world.books.charges.map((each) => ({ ...each }))
        const reservations = world.books.reservations.map((each) => ({ ...each }))
        const changed = new Map(plants.map(([n, column]) => [n % charges.length, column]))
        for (const [at, column] of changed) {
          if (column === 'charge') charges[at]!.cost += wei
          if (column === 'cost') reservations[at]!.cost += wei
          if (column === 'rebate') reservations[at]!.rebate += wei
          if (column === 'charged') reservations[at]!.charged! += wei
        }
        const accounts = compare({ ...world, books: { ...world.books, charges, reservations } })
        for (const tank of tanks) {
          const [earliest] = [...changed.keys()]
            .sort((a, b) => a - b)
            .flatMap((at) => (charges[at]!.tank === tank ? charges[at]!.userOpHash : []))
          const found = accounts.find(({ kind, holder }) => kind === 'charges' && holder === tank)
          expect(found?.first?.userOpHash).toBe(earliest)
        }
      },
    ),
  )
})

test('a deposit without a movement in a range that begins later is not derived', () => {
  const world = worldOf([])
  const chain = { ...world.chain, deposits: [] }
  const deposits = compare({ ...world, chain }, 5n).filter(({ kind }) => kind === 'deposit')
  expect(deposits).toHaveLength(tanks.length)
  for (const each of deposits)
    expect(each).toMatchObject({ stated: 10n ** 21n, derived: undefined, first: undefined })
})

test('one wei that left a deposit without a log is found', () => {
  fc.assert(
    fc.property(movements, (some) => {
      const world = worldOf(some)
      const [first = 0n, ...rest] = world.deposits
      const accounts = compare({ ...world, deposits: [first - 1n, ...rest] })
      const wrong = accounts.filter((account) => account.first)
      expect(wrong.map(({ kind, holder }) => [kind, holder])).toEqual([['deposit', tanks[0]]])
    }),
  )
})

const operationEvent = toEventSelector(
  'UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)',
)

/** The receipt of a bundle with one operation, which the EntryPoint charged nothing for `gas` gas. */
function receiptOf(userOpHash: Hex, gas: bigint): TransactionReceipt {
  const numbers = [{ type: 'uint256' }, { type: 'bool' }, { type: 'uint256' }, { type: 'uint256' }]
  const log = {
    ...{ ...place(1), blockHash: zeroHash, transactionIndex: 0, address: entryPoint },
    topics: [operationEvent, userOpHash, pad(entryPoint), pad(zeroAddress)],
    data: encodeAbiParameters(numbers, [0n, true, 0n, gas]),
  }
  return {
    ...{ ...place(1), transactionIndex: 0, blockHash: zeroHash, logs: [log], logsBloom: '0x' },
    ...{ from: entryPoint, to: entryPoint, contractAddress: null, status: 1, type: 2 },
    ...{ cumulativeGasUsed: gas, gasUsed: gas, effectiveGasPrice: 5n },
  }
}

test('of two apps that were asked to pay for an operation without fees, one pays', () => {
  const [userOpHash, transactionHash, blockNumber] = [hashOf(1), place(1).transactionHash, 1n]
  const common = { entryPoint, tank: zeroAddress, userOpHash, transactionHash, blockNumber }
  const reservation = (id: bigint, cost: bigint) => ({
    ...{ ...common, id, cost, charged: cost, fundId: `fund ${id}`, rebate: 0n, granted: 9n },
  })
  const creditOf = (id: bigint, settled: bigint) => ({
    ...{ id: `fund ${id}`, appId: `app ${id}`, createdAt: new Date(1), settled, taken: 0n },
    ...{ credited: 1_000n, added: 1_000n },
  })
  const foundFor = (costs: readonly [bigint, bigint]) => {
    const reservations = costs.map((cost, id) => reservation(BigInt(id), cost))
    const credits = costs.map((cost, id) => creditOf(BigInt(id), cost))
    const books = { ...booksOf([]), tanks: [], reservations, credits }
    const chain: ChainMoney = { charges: [], deposits: [], payments: new Map() }
    const receipts = new Map([[transactionHash, receiptOf(userOpHash, 100n)]])
    const range = { from: 0n, kept: 0n, to: 1_000n }
    return compareLedger({ books, chain, receipts, range, deposits: [], keptSince: 0 })
      .filter(({ first }) => first)
      .map(({ holder }) => holder)
  }
  expect(foundFor([500n, 0n])).toEqual([])
  expect(foundFor([0n, 500n])).toEqual([])
  expect(foundFor([499n, 0n])).toEqual(['app 0'])
  expect(foundFor([0n, 0n])).toEqual(['app 0', 'app 1'])
})
