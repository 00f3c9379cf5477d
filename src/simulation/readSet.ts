import type { Address, Hex } from 'viem'
import { depositSlot } from '../erc4337/encoding/storageLayout.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import {
  type AccountState,
  type BlockEnv,
  type FrameRecord,
  type Miss,
  type State,
  type Touched,
  usesOpcode,
} from '../evm/index.js'
import { depositIn } from './payerFunds.js'

/** The rules by which a block runs contracts. */
type BlockRules = {
  readonly [Rule in 'fork' | 'calldataFloor' | 'chainPrecompiles' | 'unknownPrecompiles']:
    | BlockEnv[Rule]
    | undefined
}

/** An account as it was read. */
type ReadAccount = Pick<AccountState, 'code'> & {
  /** wei */
  readonly balance: bigint
  /** A balance from which on the validation is the same too; undefined = only with the same one. */
  readonly leastBalance: bigint | undefined
  /** Undefined where it does not matter: a run that needs it has read it. */
  readonly nonce: bigint | undefined
}

/** A slot as it was read; `leastDeposit`, in wei: a deposit in it from which on the validation is the same too. */
type ReadSlot = {
  readonly address: Address
  readonly slot: Hex
  readonly value: bigint
  readonly leastDeposit: bigint | undefined
}

/**
 * All state that a validation depends on. Validation is a pure function of the operation and of this state, because
 * ERC-7562 forbids the rest: on a block where all of it is the same, the EntryPoint answers the same.
 */
export type ReadSet = {
  readonly rules: BlockRules
  readonly accounts: ReadonlyMap<Address, ReadAccount>
  readonly slots: readonly ReadSlot[]
}

/** A validation as far as its read set depends on it. */
type ReadValidation = {
  readonly entryPoint: Pick<EntryPoint, 'address'>
  readonly op: Operation
  /** wei that its payer must have */
  readonly prefund: bigint
  readonly root: FrameRecord
  /** What was asked of the state, during the run and after it. */
  readonly touched: readonly Touched[]
}

/**
 * The state that a validation has read on `known`. Undefined where it depends on more: on the block that it runs in, on
 * exact balances, or on an authorization (EIP-7702), which holds for one nonce of its signer.
 */
export function readSetOf(
  known: State & { readonly block: BlockEnv },
  { entryPoint, op, prefund, root, touched }: ReadValidation,
): ReadSet | undefined {
  if (op.authorization !== undefined || root.calls.some(seesEnvironment)) return undefined
  const { fork, calldataFloor, chainPrecompiles, unknownPrecompiles } = known.block
  const addresses = new Set(touched.flatMap(({ accounts }) => [...accounts]))
  if (addresses.has(known.block.coinbase)) return undefined
  const { creators, sent } = accountUses(root)
  const accounts = new Map<Address, ReadAccount>()
  for (const address of addresses) {
    const account = known.account(address)
    // A precompile, which a run calls without reading it: the rules ask for its code and find nothing.
    if (account === undefined) continue
    const { code, nonce, balance } = account
    // Whether an account without code exists at all depends on its nonce and its balance.
    const isPlain = code.length === 0
    const leastBalance = isPlain ? undefined : sent.has(address) ? sent.get(address) : 0n
    const isCounted = isPlain || creators.has(address)
    accounts.set(address, { code, balance, leastBalance, nonce: isCounted ? nonce : undefined })
  }
  const slots = new Map<string, ReadSlot>()
  for (const { slots: read } of touched) {
    for (const [address, keys] of read) {
      for (const slot of keys) {
        const value = known.slot(address, slot)
        if (value === undefined) return undefined
        // Where no frame touches it, it covered the prefund: an account that is asked for the rest pays it into this slot.
        const isDeposit =
          address === entryPoint.address &&
          slot === depositSlot(op.paymaster ?? op.sender) &&
          !root.calls.some((frame) => reads(frame, address, slot))
        const leastDeposit = isDeposit ? prefund : undefined
        slots.set(address + slot, { address, slot, value, leastDeposit })
      }
    }
  }
  return {
    rules: { fork, calldataFloor, chainPrecompiles, unknownPrecompiles },
    accounts,
    slots: [...slots.values()],
  }
}

/** The reads by which a block is compared with the set. */
export function readsOf({ accounts, slots }: ReadSet): readonly Miss[] {
  const reads: Miss[] = slots.map(({ address, slot }) => ({ kind: 'slot', address, slot }))
  for (const [address, { nonce }] of accounts) {
    reads.push({ kind: 'account', address })
    if (nonce !== undefined) reads.push({ kind: 'nonce', address })
  }
  return reads
}

/** Whether the validation is the same on `state`, of which `readsOf` is known. */
export function holdsOn(set: ReadSet, state: State & { readonly block: BlockEnv }): boolean {
  const { rules, accounts, slots } = set
  const { block } = state
  return (
    rules.fork === block.fork &&
    rules.calldataFloor === block.calldataFloor &&
    rules.chainPrecompiles === block.chainPrecompiles &&
    rules.unknownPrecompiles === block.unknownPrecompiles &&
    // It would be warm from the start (EIP-3651).
    !accounts.has(block.coinbase) &&
    slots.every((read) => isSameSlot(read, state.slot(read.address, read.slot))) &&
    [...accounts].every(([address, read]) => isSameAccount(read, state.account(address)))
  )
}

function isSameSlot({ value, leastDeposit }: ReadSlot, now: bigint | undefined): boolean {
  if (now === value || now === undefined || leastDeposit === undefined) return now === value
  return now - depositIn(now) === value - depositIn(value) && depositIn(now) >= leastDeposit
}

function isSameAccount(read: ReadAccount, now: AccountState | undefined): boolean {
  if (now === undefined) return false
  const { balance, leastBalance, nonce, code } = read
  return (
    (now.balance === balance || (leastBalance !== undefined && now.balance >= leastBalance)) &&
    (nonce === undefined || now.nonce === nonce) &&
    isSameCode(now.code, code)
  )
}

function isSameCode(one: Uint8Array, other: Uint8Array): boolean {
  return one === other || Buffer.compare(one, other) === 0
}

/** BALANCE, GASPRICE, BLOCKHASH to GASLIMIT, SELFBALANCE to BLOBBASEFEE, SLOTNUM, SELFDESTRUCT. */
const environmentOpcodes = [
  0x31, 0x3a, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0xff,
]

/**
 * Whether a frame below the EntryPoint's, or one below that, uses such an opcode. The EntryPoint itself only looks at
 * the time, for ranges of validity that are hidden from it.
 */
function seesEnvironment(frame: FrameRecord): boolean {
  return (
    environmentOpcodes.some((opcode) => usesOpcode(frame, opcode)) ||
    frame.calls.some(seesEnvironment)
  )
}

function reads(frame: FrameRecord, address: Address, slot: Hex): boolean {
  const isOwn = frame.storageAddress === address
  return (
    (isOwn && (frame.reads.has(slot) || frame.writes.has(slot))) ||
    frame.calls.some((below) => reads(below, address, slot))
  )
}

/**
 * Accounts whose nonce led to the address of a creation, and the wei that accounts sent in all; undefined where that
 * failed, maybe for lack of money.
 */
function accountUses(root: FrameRecord) {
  const creators = new Set<Address>()
  const sent = new Map<Address, bigint | undefined>()
  const visit = ({ kind, from, value, error, calls }: FrameRecord): void => {
    if (kind === 'CREATE') creators.add(from)
    if (value > 0n && kind !== 'DELEGATECALL') {
      const before = sent.has(from) ? sent.get(from) : 0n
      sent.set(from, error !== undefined || before === undefined ? undefined : before + value)
    }
    for (const call of calls) visit(call)
  }
  visit(root)
  return { creators, sent }
}
