import type { Address, Hex } from 'viem'
import { encodeRlp } from '../../src/evm/bytes/rlp.js'
import {
  type BlockEnv,
  type EvmContext,
  type EvmLog,
  type Fork,
  fromHex,
  keccak,
  type Outcome,
  type State,
  toHex,
} from '../../src/evm/index.js'
import { type PlainAccount, stateRoot } from './merkleRoot.js'
import { transact } from './transact.js'

/** A GeneralStateTest, as far as it is used here. */
export type StateTest = {
  env: Record<string, Hex>
  pre: Record<Hex, { nonce: Hex; balance: Hex; code: Hex; storage: Record<Hex, Hex> }>
  transaction: {
    data: Hex[]
    gasLimit: Hex[]
    value: Hex[]
    nonce: Hex
    sender: Address
    to: Address | ''
    gasPrice?: Hex
    maxFeePerGas?: Hex
    maxPriorityFeePerGas?: Hex
    maxFeePerBlobGas?: Hex
    blobVersionedHashes?: Hex[]
    accessLists?: (null | { address: Address; storageKeys: Hex[] }[])[]
  }
  post: Record<string, Expectation[]>
}

export type Expectation = {
  hash: Hex
  logs: Hex
  indexes: { data: number; gas: number; value: number }
  expectException?: string
  txbytes?: Hex
}

const FORK_NAMES: Readonly<Record<string, Fork>> = {
  Shanghai: 'shanghai',
  Cancun: 'cancun',
  Prague: 'prague',
}

/** The fork of a `post` key; undefined for those before Shanghai. */
export function forkOf(name: string): Fork | undefined {
  return FORK_NAMES[name]
}

/** What a chain has besides its fork. */
export type ChainPrecompiles = NonNullable<BlockEnv['chainPrecompiles']>

/**
 * Runs one case; returns what differs from the expectation, or undefined. `declines` names the
 * outcome by which the EVM may say that it cannot run it.
 */
export function runCase(
  test: StateTest,
  fork: Fork,
  expected: Expectation,
  declines?: Outcome['kind'],
  chainPrecompiles?: ChainPrecompiles,
): string | undefined {
  const accounts = accountsOf(test)
  const block = { ...blockOf(test, fork), ...(chainPrecompiles && { chainPrecompiles }) }
  const outcome = run(test, block, expected, accounts)
  if (outcome.kind === declines) return undefined
  if (expected.expectException !== undefined) {
    return outcome.kind === 'invalid' ? undefined : `not refused: ${expected.expectException}`
  }
  if (outcome.kind !== 'done') return JSON.stringify(outcome)
  apply(accounts, outcome.changes)
  const logs = toHex(keccak(encodeRlp(outcome.logs.map(logItem))))
  if (logs !== expected.logs) return `logs ${logs}, expected ${expected.logs}`
  const root = stateRoot(accounts)
  return root === expected.hash ? undefined : `root ${root}, expected ${expected.hash}`
}

type Accounts = Map<Hex, PlainAccount & { storage: Map<Hex, bigint> }>

function accountsOf({ pre }: StateTest): Accounts {
  const accounts: Accounts = new Map()
  for (const [address, { nonce, balance, code, storage }] of Object.entries(pre)) {
    const slots = Object.entries(storage).map(
      ([key, value]) => [word(key as Hex), big(value)] as const,
    )
    accounts.set(address.toLowerCase() as Address, {
      nonce: big(nonce),
      balance: big(balance),
      code: fromHex(code),
      storage: new Map(slots),
    })
  }
  return accounts
}

function big(hex: Hex): bigint {
  return hex === '0x' ? 0n : BigInt(hex)
}

function word(hex: Hex): Hex {
  return `0x${big(hex).toString(16).padStart(64, '0')}`
}

const NOTHING = { nonce: 0n, balance: 0n, code: new Uint8Array(0) }

function stateOf(accounts: Accounts): State {
  return {
    account: (address) => {
      const account = accounts.get(address)
      return account ? { ...account, hasStorage: account.storage.size > 0 } : NOTHING
    },
    slot: (address, slot) => accounts.get(address)?.storage.get(slot) ?? 0n,
  }
}

function run(test: StateTest, block: BlockEnv, expected: Expectation, accounts: Accounts): Outcome {
  const { transaction: tx } = test
  const { data, gas, value } = expected.indexes
  const setting: EvmContext = {
    state: stateOf(accounts),
    block,
    onMiss: 'stop',
    record: true,
    maxSteps: 4e9,
  }
  const amount = tx.value[value]!
  if (amount.startsWith('0x:bigint')) return { kind: 'invalid', reason: 'value above 2^256' }
  return transact(setting, {
    from: tx.sender,
    to: tx.to === '' ? undefined : (tx.to.toLowerCase() as Address),
    nonce: big(tx.nonce),
    data: fromHex(tx.data[data]!),
    gas: Number(big(tx.gasLimit[gas]!)),
    value: big(amount),
    maxFeePerGas: big(tx.maxFeePerGas ?? tx.gasPrice!),
    maxPriorityFeePerGas: big(tx.maxPriorityFeePerGas ?? tx.gasPrice!),
    accessList: tx.accessLists?.[data]?.map(({ address, storageKeys }) => ({
      address: address.toLowerCase() as Address,
      storageKeys,
    })),
    ...(tx.blobVersionedHashes && { blobHashes: tx.blobVersionedHashes }),
    ...(tx.maxFeePerBlobGas && { maxFeePerBlobGas: big(tx.maxFeePerBlobGas) }),
  })
}

function blockOf({ env }: StateTest, fork: Fork): BlockEnv {
  return {
    fork,
    chainId: 1n,
    number: big(env.currentNumber!),
    timestamp: big(env.currentTimestamp!),
    coinbase: env.currentCoinbase!.toLowerCase() as Address,
    gasLimit: big(env.currentGasLimit!),
    prevRandao: env.currentRandom ?? '0x00',
    baseFee: big(env.currentBaseFee ?? '0x00'),
    blobBaseFee: blobBaseFee(big(env.currentExcessBlobGas ?? '0x00'), fork),
    blockHash: (number) => toHex(keccak(new TextEncoder().encode(number.toString()))),
  }
}

/** EIP-4844: the blob base fee for an excess of blob gas, by the series of e^x. */
function blobBaseFee(excess: bigint, fork: Fork): bigint {
  const fraction = fork === 'prague' ? 5_007_716n : 3_338_477n
  let sum = 0n
  for (let term = fraction, i = 1n; term > 0n; i++) {
    sum += term
    term = (term * excess) / (fraction * i)
  }
  return sum / fraction
}

/** Lays the changes over the accounts; what is then empty is deleted (EIP-161). */
function apply(accounts: Accounts, changes: (Outcome & { kind: 'done' })['changes']): void {
  for (const [address, change] of changes) {
    const old = accounts.get(address)
    const storage = change.state ? new Map(change.state) : (old?.storage ?? new Map<Hex, bigint>())
    for (const [slot, value] of change.stateDiff ?? []) storage.set(slot, value)
    const next = {
      nonce: change.nonce ?? old?.nonce ?? 0n,
      balance: change.balance ?? old?.balance ?? 0n,
      code: change.code ?? old?.code ?? NOTHING.code,
      storage,
    }
    const empty = next.nonce === 0n && next.balance === 0n && next.code.length === 0
    if (empty) accounts.delete(address)
    else accounts.set(address, next)
  }
}

function logItem({ address, topics, data }: EvmLog) {
  return [fromHex(address), topics.map(fromHex), data]
}
