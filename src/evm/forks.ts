import { amsterdamCosts, type GasCosts, pragueCosts, shanghaiCosts } from './gasCosts.js'

/** Forks whose rules this EVM knows, oldest first. The order is what `since` comparisons use. */
export const forks = ['shanghai', 'cancun', 'prague', 'osaka', 'amsterdam'] as const

export type Fork = (typeof forks)[number]

/** Whether `fork` has the rules introduced by `since`. */
export function includesFork(fork: Fork, since: Fork): boolean {
  return forks.indexOf(fork) >= forks.indexOf(since)
}

/** The differences between forks outside the instruction and precompile tables. */
export type Rules = {
  /** Prices by fork. */
  gas: GasCosts
  /** EIP-6780: SELFDESTRUCT deletes only what the same transaction created. */
  destructsOnlyCreated: boolean
  /** EIP-7702: authorizations and delegated code. */
  delegation: boolean
  /** EIP-7708 and EIP-8246: a transfer leaves a log, and SELFDESTRUCT burns nothing. */
  transferLogs: boolean
  /**
   * EIP-8037: what a transaction does to accounts before its first frame is paid for then (EIP-2780), and
   * new state in gas of its own.
   */
  stateGas: boolean
  /** EIP-7825: upper bound of a transaction's gas limit; Infinity where there is none. */
  transactionGasCap: number
  /** Gas that may be spent on other things than state; what the limit exceeds it by is the reservoir (EIP-8037). */
  executionGasCap: number
  /** EIP-4844 and its later parameter changes: most blobs of one transaction; 0 where blobs are unknown. */
  maxBlobsPerTransaction: number
}

const shanghai: Rules = {
  gas: shanghaiCosts,
  destructsOnlyCreated: false,
  delegation: false,
  transferLogs: false,
  stateGas: false,
  transactionGasCap: Number.POSITIVE_INFINITY,
  executionGasCap: Number.POSITIVE_INFINITY,
  maxBlobsPerTransaction: 0,
}
const cancun: Rules = { ...shanghai, destructsOnlyCreated: true, maxBlobsPerTransaction: 6 }
const prague: Rules = {
  ...cancun,
  gas: pragueCosts,
  delegation: true,
  maxBlobsPerTransaction: 9,
}
const osaka: Rules = {
  ...prague,
  transactionGasCap: 16_777_216,
  executionGasCap: 16_777_216,
  maxBlobsPerTransaction: 6,
}
const amsterdam: Rules = {
  ...osaka,
  gas: amsterdamCosts,
  transferLogs: true,
  stateGas: true,
  transactionGasCap: 2 ** 32 - 1,
}

export const rulesByFork: Readonly<Record<Fork, Rules>> = {
  shanghai,
  cancun,
  prague,
  osaka,
  amsterdam,
}
