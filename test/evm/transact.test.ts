import { describe, expect, it } from 'vitest'
import { CONTRACT, contextOn, done, SENDER, TEST_BLOCK, word, worldOf } from './harness.js'
import type { BlockEnv } from '../../src/evm/block.js'
import { overlay } from '../../src/evm/state/state.js'
import { type EvmTransaction, transact } from './transact.js'

const BALANCE = 10n ** 18n
const TX: EvmTransaction = {
  from: SENDER,
  to: CONTRACT,
  nonce: 0n,
  data: new Uint8Array(0),
  value: 0n,
  gas: 100_000,
  maxFeePerGas: 50n,
  maxPriorityFeePerGas: 3n,
}

function run(
  tx: Partial<EvmTransaction>,
  code: `0x${string}` = '0x',
  block: Partial<BlockEnv> = {},
) {
  const state = worldOf({ [SENDER]: { balance: BALANCE }, [CONTRACT]: { code } })
  const setting = contextOn(state, { block: { ...TEST_BLOCK, ...block } })
  return { state, outcome: transact(setting, { ...TX, ...tx }) }
}

describe('transact: fees', () => {
  it('takes the base fee and the tip for the gas used, and pays only the tip out', () => {
    const { state, outcome } = run({ value: 7n })
    const after = overlay(state, done(outcome).changes)
    expect(done(outcome).gasUsed).toBe(21_000)
    expect(after.account(SENDER)).toMatchObject({
      nonce: 1n,
      balance: BALANCE - 7n - 21_000n * 13n,
    })
    expect(after.account(TEST_BLOCK.coinbase)?.balance).toBe(21_000n * 3n)
    expect(after.account(CONTRACT)?.balance).toBe(7n)
  })

  it('caps the price at the maximum fee', () => {
    const { state, outcome } = run({ maxFeePerGas: 11n, maxPriorityFeePerGas: 5n })
    const after = overlay(state, done(outcome).changes)
    expect(after.account(TEST_BLOCK.coinbase)?.balance).toBe(21_000n)
  })

  it('pays for a failed transaction too, and keeps the nonce', () => {
    const { state, outcome } = run({}, '0xfe')
    expect(done(outcome)).toMatchObject({ success: false, gasUsed: 100_000 })
    const after = overlay(state, done(outcome).changes)
    expect(after.account(SENDER)).toMatchObject({ nonce: 1n, balance: BALANCE - 1_300_000n })
  })

  it('burns the blob fee', () => {
    const blobs = { blobHashes: [`0x01${'00'.repeat(31)}`], maxFeePerBlobGas: 5n } as const
    const { state, outcome } = run(blobs, '0x5f495f5260205ff3', { blobBaseFee: 2n })
    const { changes, gasUsed, output } = done(outcome)
    expect(output[0]).toBe(1)
    const cost = BigInt(gasUsed) * 13n + 131_072n * 2n
    expect(overlay(state, changes).account(SENDER)?.balance).toBe(BALANCE - cost)
  })
})

describe('transact: refusals', () => {
  const authorization = { chainId: 1n, address: CONTRACT, nonce: 0n, yParity: 0, r: 1n, s: 1n }
  const cases: [string, Partial<EvmTransaction>, Partial<BlockEnv>?][] = [
    ['nonce', { nonce: 1n }],
    ['balance', { value: BALANCE }],
    ['base fee', { maxFeePerGas: 9n, maxPriorityFeePerGas: 0n }],
    ['priority fee', { maxPriorityFeePerGas: 51n }],
    ['block gas limit', { gas: 100_001 }, { gasLimit: 100_000n }],
    ['cap of one transaction', { gas: 16_777_217 }],
    ['intrinsic gas', { gas: 20_000 }],
    ['calldata floor', { data: new Uint8Array(1000).fill(1), gas: 50_000 }],
    ['initcode', { to: undefined, data: new Uint8Array(49_153), gas: 9_000_000 }],
    ['too many blobs', { blobHashes: Array(7).fill(word(1n << 248n)), maxFeePerBlobGas: 1n }],
    ['must not be empty', { authorizations: [] }],
    ['cannot create', { to: undefined, authorizations: [authorization] }],
    ['unknown to this fork', { authorizations: [authorization] }, { fork: 'cancun' }],
  ]

  it.each(cases)('%s', (reason, tx, block) => {
    const { outcome } = run(tx, '0x', block)
    expect(outcome).toEqual({ kind: 'invalid', reason: expect.stringContaining(reason) })
  })

  it('takes a delegated sender (EIP-7702) but no contract (EIP-3607)', () => {
    const from = (code: `0x${string}`) =>
      transact(contextOn(worldOf({ [SENDER]: { balance: BALANCE, code } })), TX)
    expect(from(`0xef0100${CONTRACT.slice(2)}`).kind).toBe('done')
    expect(from('0x00')).toEqual({ kind: 'invalid', reason: 'sender is a contract' })
  })
})
