import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  addressOf,
  CONTRACT,
  contextOn,
  done,
  hex,
  messageTo,
  OTHER,
  pushAddress,
  runCode,
  SENDER,
  TEST_BLOCK,
  UNKNOWN,
  word,
  worldOf,
} from '../../test/evm/harness.js'
import { call } from './call.js'
import type { Fork } from './forks.js'
import { createAddress, fromHex, overlay, p256VerifyRip7212, type State, toHex } from './index.js'

/** SLOAD(1) + SLOAD(2), returned as a word. */
const SUM_OF_SLOTS = '0x600154600254015f5260205ff3'

describe('call: gas', () => {
  it('charges intrinsic gas as eth_call does', () => {
    const result = runCode('0x00')
    expect(result).toMatchObject({ success: true, gasUsed: 21_000, executionGas: 0 })
  })

  it('charges calldata, and its floor where that is more', () => {
    const state = worldOf({})
    const data = new Uint8Array(100).fill(1)
    const prague = done(call(contextOn(state), messageTo(CONTRACT, { data })))
    expect(prague.gasUsed).toBe(21_000 + 40 * 100)
    const block = { ...TEST_BLOCK, fork: 'cancun' as const }
    const cancun = done(call(contextOn(state, { block }), messageTo(CONTRACT, { data })))
    expect(cancun.gasUsed).toBe(21_000 + 16 * 100)
    const without = { block: { ...TEST_BLOCK, calldataFloor: false } }
    const exempt = messageTo(CONTRACT, { data, gas: 21_000 + 16 * 100 })
    expect(done(call(contextOn(state, without), exempt)).gasUsed).toBe(cancun.gasUsed)
  })

  it('grants at most a fifth of the gas as refund', () => {
    const clearSlot = '0x5f600155'
    const storage = { 1: 1n }
    const result = runCode(clearSlot, { [CONTRACT]: { code: clearSlot, storage } })
    expect(result.executionGas).toBe(2 + 3 + 2900 + 2100)
    expect(result.gasRefunded).toBe(4800)
    expect(result.gasUsed).toBe(21_000 + 5005 - 4800)
    const twice = '0x5f600155 5f600255 5f600355'.replaceAll(' ', '') as `0x${string}`
    const three = runCode(twice, { [CONTRACT]: { code: twice, storage: { 1: 1n, 2: 1n, 3: 1n } } })
    expect(three.gasRefunded).toBe(Math.floor((21_000 + 3 * 5005) / 5))
  })

  it('burns all gas in an exceptional halt and none but the used in a revert', () => {
    expect(runCode('0xfe')).toMatchObject({ error: 'invalid opcode', gasUsed: 1_000_000 })
    expect(runCode('0x5f5ffd')).toMatchObject({ error: 'reverted', gasUsed: 21_004 })
  })

  it('refuses a gas limit below the intrinsic gas', () => {
    const outcome = call(contextOn(worldOf({})), messageTo(CONTRACT, { gas: 20_999 }))
    expect(outcome).toEqual({ kind: 'invalid', reason: expect.stringContaining('intrinsic') })
  })

  it('does not check or charge fees, but wants the value to be there', () => {
    expect(runCode('0x3a5f5260205ff3').output).toEqual(fromHex(word(0)))
    const priced = messageTo(CONTRACT, { gasPrice: 77n })
    const state = worldOf({ [CONTRACT]: { code: '0x3a5f5260205ff3' } })
    expect(done(call(contextOn(state), priced)).output).toEqual(fromHex(word(77)))
    const poor = call(contextOn(state), messageTo(CONTRACT, { value: 1n }))
    expect(poor).toMatchObject({ kind: 'invalid' })
  })
})

describe('call: unknown state', () => {
  const code = fromHex(SUM_OF_SLOTS)
  const known: State = {
    account: (address) =>
      address === CONTRACT ? { nonce: 1n, balance: 0n, code } : UNKNOWN.account(address),
    slot: () => undefined,
  }

  it('stops at the first miss', () => {
    const outcome = call(contextOn(UNKNOWN), messageTo(CONTRACT))
    expect(outcome).toEqual({ kind: 'missing', misses: [{ kind: 'account', address: SENDER }] })
  })

  it('collects every miss of a speculative run, each once', () => {
    const twice: State = { ...known, slot: () => undefined }
    const outcome = call(contextOn(twice, { onMiss: 'guess' }), messageTo(CONTRACT))
    expect(outcome).toEqual({
      kind: 'missing',
      misses: [
        { kind: 'account', address: SENDER },
        { kind: 'slot', address: CONTRACT, slot: word(1) },
        { kind: 'slot', address: CONTRACT, slot: word(2) },
      ],
    })
  })

  it('runs to the end once the misses are answered', () => {
    const answered: State = {
      account: (address) => known.account(address) ?? worldOf({}).account(address),
      slot: (_, slot) => BigInt(slot) * 10n,
    }
    expect(done(call(contextOn(answered), messageTo(CONTRACT))).output).toEqual(fromHex(word(30)))
  })

  it('reports an unknown block hash', () => {
    const block = { ...TEST_BLOCK, blockHash: () => undefined }
    const state = worldOf({ [CONTRACT]: { code: '0x6103e740' } })
    const outcome = call(contextOn(state, { block }), messageTo(CONTRACT))
    expect(outcome).toEqual({ kind: 'missing', misses: [{ kind: 'blockHash', number: 999n }] })
  })

  it('misses a nonce only where it counts', () => {
    const run = (code: Hex) => {
      const account = { nonce: undefined, balance: 0n, code: fromHex(code) }
      const state: State = {
        account: (address) => (address === CONTRACT ? account : worldOf({}).account(address)),
        slot: () => undefined,
      }
      return call(contextOn(state, { onMiss: 'guess' }), messageTo(CONTRACT))
    }
    expect(run('0x00').kind).toBe('done')
    const [create, create2] = ['0x5f5f5ff0', '0x5f5f5f5ff5'] as const
    for (const code of [create, create2])
      expect(run(code)).toEqual({
        kind: 'missing',
        misses: [{ kind: 'nonce', address: CONTRACT }],
      })
  })

  it('needs no state for a precompile or for what an access list names', () => {
    const state: State = {
      account: (address) =>
        address === SENDER || address === CONTRACT ? worldOf({}).account(address) : undefined,
      slot: () => undefined,
    }
    const accessList = [{ address: OTHER, storageKeys: [word(1)] }]
    expect(call(contextOn(state), messageTo(CONTRACT, { accessList })).kind).toBe('done')
    expect(call(contextOn(state), messageTo(addressOf(4))).kind).toBe('done')
  })
})

describe('call: what it cannot run', () => {
  it('says so for a fork it does not know', () => {
    const block = { ...TEST_BLOCK, fork: 'bogota' as Fork }
    const outcome = call(contextOn(worldOf({}), { block }), messageTo(CONTRACT))
    expect(outcome).toEqual({ kind: 'unsupported', reason: 'unknown fork bogota' })
  })

  it('says so for a precompile of the chain', () => {
    const block = { ...TEST_BLOCK, unknownPrecompiles: new Set([addressOf(0x64)]) }
    const code = hex('5f5f5f5f', pushAddress(addressOf(0x64)), '5afa')
    const state = worldOf({ [CONTRACT]: { code } })
    expect(call(contextOn(state, { block }), messageTo(CONTRACT))).toMatchObject({
      kind: 'unsupported',
    })
  })

  it('ends an endless loop when its steps are spent', () => {
    const state = worldOf({ [CONTRACT]: { code: '0x5b5f56' } })
    const run = contextOn(state, { maxSteps: 10_000 })
    expect(call(run, messageTo(CONTRACT, { gas: 1e9 }))).toEqual({
      kind: 'exhausted',
      reason: 'steps',
    })
  })

  it('counts precompiles as what they cost in time', () => {
    const pairing = hex('5f5f60c05f6008', '5afa')
    const state = worldOf({ [CONTRACT]: { code: pairing } })
    expect(call(contextOn(state, { maxSteps: 100_000 }), messageTo(CONTRACT)).kind).toBe(
      'exhausted',
    )
    expect(call(contextOn(state), messageTo(CONTRACT)).kind).toBe('done')
  })
})

describe('call: chains and forks', () => {
  it('runs the precompiles that a chain adds to its fork', () => {
    const at = addressOf(0x100)
    const block = { ...TEST_BLOCK, fork: 'cancun' as const }
    const message = messageTo(at, { gas: 30_000 })
    expect(done(call(contextOn(worldOf({}), { block }), message)).gasUsed).toBe(21_000)
    const chainPrecompiles = new Map([[0x100, p256VerifyRip7212]])
    const added = contextOn(worldOf({}), { block: { ...block, chainPrecompiles } })
    expect(done(call(added, message)).gasUsed).toBe(24_450)
  })

  it.each([
    ['5f', 'shanghai'],
    ['5f5c', 'cancun'],
    ['5f1e', 'osaka'],
  ] as const)('knows the opcodes %s from %s on only', (code, since) => {
    const forks: Fork[] = ['shanghai', 'cancun', 'prague', 'osaka']
    for (const fork of forks) {
      const { success } = runCode(hex(code), {}, { block: { ...TEST_BLOCK, fork } })
      expect(success).toBe(forks.indexOf(fork) >= forks.indexOf(since))
    }
  })
})

describe('call: changes', () => {
  it('lets a following run build on them', () => {
    const code = '0x60015460010180600155 5f5260205ff3'.replace(' ', '') as `0x${string}`
    let state = worldOf({ [CONTRACT]: { code } })
    for (const count of [1, 2, 3]) {
      const result = done(call(contextOn(state), messageTo(CONTRACT)))
      expect(result.output).toEqual(fromHex(word(count)))
      state = overlay(state, result.changes)
    }
    expect(state.slot(CONTRACT, word(1))).toBe(3n)
    expect(state.account(SENDER)?.nonce).toBe(3n)
  })

  it('keeps nothing of a failed message but the nonce', () => {
    const { changes, logs } = runCode('0x60016001555f5fa05f5ffd')
    expect(changes.get(CONTRACT)?.stateDiff?.size ?? 0).toBe(0)
    expect(changes.get(SENDER)?.nonce).toBe(1n)
    expect(logs).toEqual([])
  })

  it('creates an account from initcode', () => {
    const state = worldOf({})
    const data = fromHex('0x6001600c60003960016000f300')
    const result = done(call(contextOn(state), messageTo(undefined, { data })))
    const created = createAddress(SENDER, 0n)
    expect(result.success).toBe(true)
    expect(overlay(state, result.changes).account(created)).toMatchObject({
      nonce: 1n,
      code: Uint8Array.of(0),
    })
  })

  it('deletes what a creation of the same transaction destroys', () => {
    const data = fromHex(hex(pushAddress(SENDER), 'ff'))
    const result = done(call(contextOn(worldOf({})), messageTo(undefined, { data })))
    const gone = result.changes.get(createAddress(SENDER, 0n))
    expect(gone).toMatchObject({ nonce: 0n, balance: 0n, code: new Uint8Array(0) })
  })

  it('returns output that later runs do not overwrite', () => {
    const first = runCode('0x600160005260206000f3').output
    runCode('0x600260005260206000f3')
    expect(toHex(first)).toBe(word(1))
  })
})
