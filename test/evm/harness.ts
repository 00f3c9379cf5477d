import type { Address, Hex } from 'viem'
import {
  type BlockEnv,
  type CallResult,
  call,
  type EvmContext,
  type EvmMessage,
  type ExecutionRecord,
  fromHex,
  type Outcome,
  type State,
} from '../../src/evm/index.js'

export const SENDER: Address = '0x00000000000000000000000000000000000000aa'
export const CONTRACT: Address = '0x00000000000000000000000000000000000c0001'
export const OTHER: Address = '0x00000000000000000000000000000000000c0002'

export const TEST_BLOCK: BlockEnv = {
  fork: 'osaka',
  chainId: 1n,
  number: 1000n,
  timestamp: 1_700_000_000n,
  coinbase: '0x00000000000000000000000000000000000000cb',
  gasLimit: 30_000_000n,
  prevRandao: `0x${'00'.repeat(31)}07`,
  baseFee: 10n,
  blobBaseFee: 1n,
  blockHash: () => `0x${'11'.repeat(32)}`,
}

type Plain = {
  code?: Hex | Uint8Array
  balance?: bigint
  nonce?: bigint
  storage?: Record<number, bigint>
}

/** A 32-byte slot or word. */
export function word(value: number | bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** An address given by a number. */
export function addressOf(value: number | bigint): Address {
  return `0x${value.toString(16).padStart(40, '0')}`
}

/** A world where everything is known: what is not listed is empty. */
export function worldOf(accounts: Record<Address, Plain>): State {
  const codes = new Map(
    Object.entries(accounts).map(([address, { code = '0x' }]) => [
      address,
      typeof code === 'string' ? fromHex(code) : code,
    ]),
  )
  const empty = new Uint8Array(0)
  return {
    account: (address) => {
      const { nonce = 0n, balance = 0n } = accounts[address] ?? {}
      return { nonce, balance, code: codes.get(address) ?? empty }
    },
    slot: (address, slot) => accounts[address]?.storage?.[Number(slot)] ?? 0n,
  }
}

/** A world where nothing is known. */
export const UNKNOWN: State = { account: () => undefined, slot: () => undefined }

export function contextOn(state: State, changes: Partial<EvmContext> = {}): EvmContext {
  return { state, block: TEST_BLOCK, onMiss: 'stop', record: true, maxSteps: 1e7, ...changes }
}

export function messageTo(to: Address | undefined, changes: Partial<EvmMessage> = {}): EvmMessage {
  return { from: SENDER, to, data: new Uint8Array(0), value: 0n, gas: 1_000_000, ...changes }
}

/** The result of a run that must come to its end. */
export function done(outcome: Outcome): CallResult {
  if (outcome.kind !== 'done') throw new Error(`ended as ${JSON.stringify(outcome)}`)
  return outcome
}

/** Runs `code` at CONTRACT, with `others` around it. */
export function runCode(
  code: Hex | Uint8Array,
  others: Record<Address, Plain> = {},
  changes: Partial<EvmContext> = {},
): CallResult & { record: ExecutionRecord } {
  const state = worldOf({ [CONTRACT]: { code }, ...others })
  const result = done(call(contextOn(state, changes), messageTo(CONTRACT)))
  return { ...result, record: result.record! }
}

/** Joins pieces of hex without their 0x. */
export function hex(...pieces: string[]): Hex {
  return `0x${pieces.map((piece) => piece.replace(/^0x/, '')).join('')}`
}

/** PUSH20 of an address. */
export function pushAddress(address: Address): string {
  return `73${address.slice(2)}`
}
