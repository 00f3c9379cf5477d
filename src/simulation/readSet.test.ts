import fc from 'fast-check'
import { type Address, type Hex, numberToHex, zeroHash } from 'viem'
import { describe, expect, test } from 'vitest'
import { BLOCK, createMemoryChain, VERSIONS } from '../../test/support/erc7562/memoryChain.js'
import { createRuleFixture, HOWS, type Scenario } from '../../test/support/erc7562/ruleFixture.js'
import { silent } from '../../test/support/logger.js'
import { randomRuns } from '../../test/support/runs.js'
import { program } from '../../test/support/simulations.js'
import type { KnownBlock, WithState } from '../chain/stateProvider.js'
import { depositSlot } from '../erc4337/encoding/storageLayout.js'
import type { Operation } from '../erc4337/operation.js'
import {
  type BlockEnv,
  type EvmAccountOverride,
  type FrameRecord,
  overlay,
  type State,
} from '../evm/index.js'
import type { Validation, ValidationResult } from './engine.js'
import { createEngineOn } from './inProcess/inProcessEngine.js'
import { holdsOn, type ReadSet, readsOf } from './readSet.js'
import { createSimulations } from './simulations.js'

/** All on the calling thread. */
const inline = { runSteps: 1e8, measureSteps: 1e9 }
const simulations = createSimulations({ workers: 1, logger: silent, program, inline })

const parent = { hash: zeroHash, parentHash: zeroHash, number: BLOCK.number }
const head = { ...parent, timestamp: 0, baseFee: 0n }

function blockOn(state: State, block: BlockEnv = BLOCK): KnownBlock {
  return { head, block, account: state.account, slot: state.slot }
}

const COINBASE: Address = BLOCK.coinbase
const NOBODY: Address = `0x${'0b'.repeat(20)}`
const CODE = new Uint8Array([0x5f, 0x5f, 0xf3])

/** One act by each way in which ERC-7562 thinks of code that looks at the world, forbidden ones included. */
const acts = [
  ...['ORIGIN', 'GASPRICE', 'BLOCKHASH', 'COINBASE', 'TIMESTAMP', 'NUMBER', 'DIFFICULTY'],
  ...['GASLIMIT', 'BASEFEE', 'BLOBHASH', 'BLOBBASEFEE', 'CHAINID', 'GAS', 'BALANCE'],
  ...['SELFBALANCE', 'CREATE', 'CREATE2', 'EXTCODESIZE', 'EXTCODEHASH', 'EXTCODECOPY', 'DEPOSIT'],
  ...['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL', 'SLOAD', 'SSTORE', 'TLOAD', 'TSTORE'],
  ...['SLOAD OF', 'SSTORE OF'],
] as const

const numbers = fc.oneof(
  fc.constantFrom(0n, 1n, 2n ** 18n, 10n ** 17n, 10n ** 18n, 2n ** 112n, 2n ** 120n),
  fc.bigInt({ min: 0n, max: 2n ** 128n }),
)

/** A change of the world: of what was read, by its place in the read set, or of what was not. */
const change = fc.record({
  what: fc.constantFrom('slot', 'otherSlot', 'balance', 'nonce', 'code', 'block', 'nobody'),
  place: fc.nat(),
  by: fc.constantFrom('set', 'add', 'subtract'),
  value: numbers,
})
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

function changed({ by, value }: Change, before: bigint): bigint {
  if (by === 'set') return value
  return by === 'add' ? before + value : before > value ? before - value : 0n
}

/** Deposits with which a validation is the same as with the prefund or more, or is not. */
const depositsAround = (prefund: bigint) =>
  [
    [prefund, true],
    [prefund - 1n, false],
    [2n ** 100n, true],
  ] as const

/** The world after the changes. */
function afterwards(known: KnownBlock, set: ReadSet, changes: readonly Change[]): KnownBlock {
  let state: State = known
  let { block } = known
  const put = (address: Address, override: EvmAccountOverride) => {
    state = overlay(state, new Map([[address, override]]))
  }
  const accounts = [...set.accounts.keys()]
  for (const each of changes) {
    const { what, place, value } = each
    const address = accounts[place % accounts.length]!
    const account = state.account(address)!
    if (what === 'slot') {
      const { address: at, slot } = set.slots[place % set.slots.length]!
      const word = BigInt.asUintN(256, changed(each, state.slot(at, slot)!))
      put(at, { stateDiff: new Map([[slot, word]]) })
    } else if (what === 'otherSlot') {
      put(address, { stateDiff: new Map([[numberToHex(place + 2 ** 40, { size: 32 }), value]]) })
    } else if (what === 'balance') put(address, { balance: changed(each, account.balance) })
    else if (what === 'nonce') put(address, { nonce: (account.nonce ?? 0n) + (value % 3n) })
    else if (what === 'code') put(address, { code: place % 2 === 0 ? CODE : new Uint8Array(0) })
    else if (what === 'nobody') put(NOBODY, { balance: value, nonce: value % 2n })
    else {
      const coinbase = place % 3 === 0 ? address : COINBASE
      const number = block.number + 1n
      block = { ...block, number, timestamp: number, baseFee: value, coinbase, gasLimit: value }
    }
  }
  return blockOn(state, block)
}

describe.each(VERSIONS)('a read set on EntryPoint v%s', (version) => {
  const chain = createMemoryChain(version)
  const fixture = createRuleFixture(chain)
  const { entryPoint } = chain
  const { account, stranger, paymaster } = fixture
  const subjects = [stranger, account, paymaster, NOBODY, entryPoint.address, COINBASE]

  /** On a state that is known whole, so that no run misses anything. */
  const validate = (known: KnownBlock, op: Operation): Promise<ValidationResult> => {
    const withState: WithState = async (_, attempt) => {
      const result = await attempt(known, [])
      if (result.kind !== 'done') throw new Error(`the run ended as ${result.kind}`)
      return { result, known }
    }
    const party = { simulations, requester: undefined }
    return createEngineOn(withState, party).validate(entryPoint, op)
  }
  const validated = async (known: KnownBlock, op: Operation): Promise<Validation> => {
    const result = await validate(known, op)
    if (!result.ok) throw new Error(result.failure.message)
    return result.validation
  }

  const operationOf = (scenario: Scenario): Operation => {
    const op = fixture.operation(scenario)
    if (scenario.factory) {
      chain.deposit(op.sender)
      chain.send(op.sender, '0x', 10n ** 18n)
    }
    return op
  }

  /** All that a validation did, but for the deposit that its payer had. */
  const deedsOf = ({ observed, ...answer }: Validation, op: Operation) => {
    if (observed.kind !== 'record') throw new Error('it was not recorded')
    const { root } = observed.record
    const reads = new Map(root.reads)
    reads.delete(depositSlot(op.paymaster ?? op.sender))
    return { answer, root: { ...root, reads } satisfies FrameRecord, stakes: observed.stakes }
  }

  const act = fc.record({
    what: fc.constantFrom(...acts),
    how: fc.constantFrom(...HOWS),
    via: fc.constant(stranger),
    subject: fc.constantFrom(...subjects),
    value: fc.constantFrom(0n, 1n, 5n, 10n ** 17n),
    data: fc.constant<Hex>('0x'),
  })
  const scenario = fc.oneof(
    fc.record({ account: act }),
    fc.record({ account: act, paymaster: act }),
    fc.record({ factory: act, paymaster: act }),
    fc.record({ factory: act }),
  )

  test('that is the same gives the same validation, whatever else changed', async () => {
    const seen = { without: 0, same: 0, other: 0 }
    const run = async (chosen: Scenario, changes: readonly Change[]) => {
      const op = operationOf(chosen)
      const known = blockOn(chain.state())
      const before = await validate(known, op)
      // Acts that fail, and those of which no read set can be made.
      if (!before.ok) return
      const { observed } = before.validation
      if (observed.kind !== 'record') throw new Error('it was not recorded')
      const { readSet } = observed
      if (readSet === undefined) {
        seen.without++
        return
      }
      expect(holdsOn(readSet, known)).toBe(true)
      const then = afterwards(known, readSet, changes)
      if (!holdsOn(readSet, then)) {
        seen.other++
        return
      }
      seen.same++
      expect(deedsOf(await validated(then, op), op)).toEqual(deedsOf(before.validation, op))
    }
    await fc.assert(
      fc.asyncProperty(scenario, fc.array(change, { minLength: 1, maxLength: 3 }), run),
      { numRuns: randomRuns(1_000) },
    )
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10)
  })

  test('names every read, holds nothing of the block, and lets payers have more', async () => {
    const op = operationOf({
      account: { what: 'SLOAD', value: 7n },
      paymaster: { what: 'CHAINID' },
    })
    const known = blockOn(chain.state())
    const { observed, prefund } = await validated(known, op)
    const readSet = observed.kind === 'record' ? observed.readSet : undefined
    if (readSet === undefined) throw new Error('it has no read set')
    const slot = numberToHex(7n, { size: 32 })
    expect(readsOf(readSet)).toContainEqual({ kind: 'slot', address: account, slot })
    const withSlot = (address: Address, at: Hex, value: bigint) =>
      blockOn(overlay(known, new Map([[address, { stateDiff: new Map([[at, value]]) }]])))
    expect(holdsOn(readSet, withSlot(account, slot, 1n))).toBe(false)
    const deposited = depositSlot(paymaster)
    for (const [deposit, holds] of depositsAround(prefund))
      expect(holdsOn(readSet, withSlot(entryPoint.address, deposited, deposit))).toBe(holds)
    const later = { ...BLOCK, number: 5n, timestamp: 9n, baseFee: 3n }
    expect(holdsOn(readSet, blockOn(known, later))).toBe(true)
    expect(holdsOn(readSet, blockOn(known, { ...BLOCK, fork: 'amsterdam' }))).toBe(false)
  })

  test('lets an account have more that pays from its deposit', async () => {
    const op = operationOf({ account: { what: 'SLOAD', value: 7n } })
    const deposited = depositSlot(account)
    const withDeposit = (wei: bigint) =>
      blockOn(
        overlay(
          chain.state(),
          new Map([[entryPoint.address, { stateDiff: new Map([[deposited, wei]]) }]]),
        ),
      )
    const prefund = entryPoint.requiredPrefund(op)
    expect(prefund).toBeGreaterThan(0n)
    const { observed } = await validated(withDeposit(prefund + 5n), op)
    const readSet = observed.kind === 'record' ? observed.readSet : undefined
    if (readSet === undefined) throw new Error('it has no read set')
    for (const [deposit, holds] of depositsAround(prefund))
      expect(holdsOn(readSet, withDeposit(deposit))).toBe(holds)
  })

  test.each(['TIMESTAMP', 'BALANCE', 'SELFBALANCE', 'COINBASE', 'BASEFEE', 'GASPRICE'])(
    'there is none for a validation that uses %s',
    async (what) => {
      const op = operationOf({ account: { what, subject: stranger } })
      const { observed } = await validated(blockOn(chain.state()), op)
      expect(observed.kind === 'record' && observed.readSet).toBe(undefined)
    },
  )
})
