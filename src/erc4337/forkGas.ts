import { type Fork, rulesByFork, WARM_ACCESS } from '../evm/index.js'
import type { Operation } from './operation.js'
import type { Version } from './versionFacts.js'

/**
 * Gas of handleOps that the EntryPoint charges to nobody: fixed + perOp * n, on top of the transaction's own and
 * calldata. Measured with operations that leave no callGasLimit unused: the 10 % that v0.7 and later
 * charge for unused gas would hide a part of it; and with the transaction's origin as beneficiary.
 */
export type Overhead = {
  readonly fixed: number
  /** Without any validity range: the EntryPoint returns early from validation data that are 0. */
  readonly perOp: number
  /** More for the validity range that an account, or a paymaster, returned; measured with both bounds. */
  readonly range: number
  /** More for each word of the context that a paymaster returned, without the square of memory. */
  readonly contextWord: number
  /** More for an operation that is passed to executeUserOp, and for each word of its encoding. */
  readonly executeUserOp?: { readonly fixed: number; readonly perWord: number }
}

/** What of an operation's accounts is in the state before its bundle, as far as its cost depends on it. */
export type StateBefore = {
  /** The signer of its EIP-7702 authorization; plain = it has a nonce or wei. It never becomes less while the authorization holds. */
  readonly authority: 'absent' | 'plain' | 'delegated'
  /** Whether its sender has anything in its slot of deposits in the EntryPoint. */
  readonly hasDeposit: boolean
}

/** What is supposed where nobody looked: the most expensive. */
const nothingBefore: StateBefore = { authority: 'absent', hasDeposit: false }

/** Gas of what a bundle adds to the state for the operation, which the EntryPoint does not meter; absent = nothing is known. */
export function unmeteredGas(
  gas: ForkGas,
  { authorization, paymaster }: Pick<Operation, 'authorization' | 'paymaster'>,
  { authority, hasDeposit }: StateBefore = nothingBefore,
): number {
  const authorized = authorization === undefined ? 0 : gas.authorization[authority]
  return authorized + (paymaster === undefined && !hasDeposit ? gas.newDeposit : 0)
}

/** Gas by the rules of a chain for all that a bundle costs on top of its operations' contracts. */
export type ForkGas = {
  /** EIP-2780: a transaction to a contract without value or call data. */
  readonly transaction: number
  /** EIP-2028: a byte of call data. */
  readonly zeroByte: number
  readonly byte: number
  /** EIP-7623, EIP-7976: the least that a byte of call data costs. */
  readonly floorZeroByte: number
  readonly floorByte: number
  /** EIP-7702, EIP-8037: an authorization, by the state of its signer. */
  readonly authorization: Readonly<Record<StateBefore['authority'], number>>
  /** By which it costs more to pay a beneficiary that is not the origin of the transaction (EIP-2929, EIP-8038), and one that does not exist (EIP-8037). */
  readonly coldBeneficiary: number
  readonly newBeneficiary: number
  /**
   * The refund on which `overhead.perOp` counts where a sender pays: its deposit in the EntryPoint goes from
   * nothing to the prefund and back, before it gets the rest of the prefund.
   */
  readonly depositRefund: number
  /** Gas that is metered at least with such a refund: the deposit from nothing to the prefund, the rest. */
  readonly meteredWithRefund: number
  /** State gas of the rest that a sender without deposit gets: nobody meters it (EIP-8037). */
  readonly newDeposit: number
  /** State gas of an account that a validation creates, where it has no wei yet (EIP-8037). */
  readonly newAccount: number
  /** Gas of a bundle up to which the EntryPoint sees all state gas (EIP-8037); Infinity where there is none. */
  readonly bundleCap: number
  /** By which the first use of an account exceeds later ones, and what a write to a slot costs at most. */
  readonly coldAccount: number
  readonly write: number
  /**
   * By which a new slot, and the first change of another, cost more than by the rules of Osaka, by which gas of our
   * contracts was measured (EIP-8037, EIP-8038).
   */
  readonly surcharge: { readonly slot: number; readonly change: number }
  readonly overhead: Overhead
}

/** Measured by the rules of Osaka; see test/erc4337/forkGas.test.ts. */
const overheads: Readonly<Record<Version, Overhead>> = {
  '0.6': { fixed: 10_927, perOp: 8_218, range: 460, contextWord: 82 },
  '0.7': {
    fixed: 11_262,
    perOp: 7_836,
    range: 365,
    contextWord: 82,
    executeUserOp: { fixed: 1_600, perWord: 69 },
  },
  '0.8': {
    fixed: 9_157,
    perOp: 7_601,
    range: 370,
    contextWord: 15,
    executeUserOp: { fixed: 1_640, perWord: 7 },
  },
  '0.9': {
    fixed: 9_073,
    perOp: 7_749,
    range: 475,
    contextWord: 15,
    executeUserOp: { fixed: 1_640, perWord: 7 },
  },
}

/** Gas of the rest of a metered operation that pays its prefund: the event, its nonce, the call. */
const METERED_REST = 15_000
/** v0.9 asks once for the size of a contract's code, which costs one more read (EIP-8038). */
const codeReads: Readonly<Record<Version, number>> = { '0.6': 0, '0.7': 0, '0.8': 0, '0.9': 1 }

function tableOf(version: Version, fork: Fork): ForkGas {
  const { gas: costs, stateGas, executionGasCap } = rulesByFork[fork]
  const { gas: known } = rulesByFork.osaka
  const delegated = costs.authorization + costs.authorizationWrite
  const plain = delegated + costs.authorizationState
  const overhead = overheads[version]
  // The beneficiary is paid by a call with value.
  const paid = costs.callValue - known.callValue
  const reads = stateGas ? WARM_ACCESS * codeReads[version] : 0
  return {
    transaction: costs.transaction + costs.recipient,
    zeroByte: 4,
    byte: 16,
    // Whether a chain has the floor is asked for by itself.
    floorZeroByte: costs.floorZeroByte || known.floorZeroByte,
    floorByte: costs.floorByte || known.floorByte,
    authorization: { absent: plain + costs.newAccountState, plain, delegated },
    coldBeneficiary: costs.coldAccount - WARM_ACCESS,
    newBeneficiary: costs.callNewAccount + costs.newAccountState,
    depositRefund: costs.slotSet - WARM_ACCESS,
    meteredWithRefund: costs.slotSet + METERED_REST,
    newDeposit: costs.slotSetState,
    newAccount: costs.newAccountState,
    bundleCap: stateGas ? executionGasCap : Number.POSITIVE_INFINITY,
    coldAccount: costs.coldAccount - WARM_ACCESS,
    write: costs.slotSet + costs.slotSetState,
    surcharge: {
      slot: costs.slotSet + costs.slotSetState - known.slotSet,
      change: costs.slotReset - known.slotReset,
    },
    overhead: { ...overhead, fixed: overhead.fixed + paid + reads },
  }
}

const tables = new Map<string, ForkGas>()

/** The gas of a bundle by the rules of `forks`: by those that cost more where there are several. */
export function forkGas(version: Version, forks: readonly Fork[]): ForkGas {
  const key = `${version} ${forks.join(' ')}`
  const known = tables.get(key)
  if (known !== undefined) return known
  const made = forks.map((fork) => tableOf(version, fork)).reduce(greater)
  tables.set(key, made)
  return made
}

/** What is at least as much as either, so that it is enough by the rules of both. */
function greater(one: ForkGas, other: ForkGas): ForkGas {
  const most = <T extends object>(a: T, b: T): T => {
    const entries = Object.entries(a).map(([key, value]) => {
      const second = b[key as keyof T] as unknown
      if (typeof value === 'number') return [key, Math.max(value, second as number)]
      return [key, value && most(value as object, second as object)]
    })
    return Object.fromEntries(entries) as T
  }
  return {
    ...most(one, other),
    meteredWithRefund: Math.min(one.meteredWithRefund, other.meteredWithRefund),
    bundleCap: Math.min(one.bundleCap, other.bundleCap),
  }
}
