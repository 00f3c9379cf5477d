/** Forks whose rules this EVM knows, oldest first. The order is what `since` comparisons use. */
export const forks = ['shanghai', 'cancun', 'prague', 'osaka'] as const

export type Fork = (typeof forks)[number]

/** Whether `fork` has the rules introduced by `since`. */
export function includesFork(fork: Fork, since: Fork): boolean {
  return forks.indexOf(fork) >= forks.indexOf(since)
}

/** The differences between forks outside the instruction and precompile tables. */
export type Rules = {
  /** EIP-6780: SELFDESTRUCT deletes only what the same transaction created. */
  destructsOnlyCreated: boolean
  /** EIP-7702: authorizations and delegated code. */
  delegation: boolean
  /** EIP-7623: floor price of calldata. */
  calldataFloor: boolean
  /** EIP-7825: upper bound of a transaction's gas limit; Infinity where there is none. */
  transactionGasCap: number
  /** EIP-4844 and its later parameter changes: most blobs of one transaction; 0 where blobs are unknown. */
  maxBlobsPerTransaction: number
}

export const rulesByFork: Readonly<Record<Fork, Rules>> = {
  shanghai: {
    destructsOnlyCreated: false,
    delegation: false,
    calldataFloor: false,
    transactionGasCap: Number.POSITIVE_INFINITY,
    maxBlobsPerTransaction: 0,
  },
  cancun: {
    destructsOnlyCreated: true,
    delegation: false,
    calldataFloor: false,
    transactionGasCap: Number.POSITIVE_INFINITY,
    maxBlobsPerTransaction: 6,
  },
  prague: {
    destructsOnlyCreated: true,
    delegation: true,
    calldataFloor: true,
    transactionGasCap: Number.POSITIVE_INFINITY,
    maxBlobsPerTransaction: 9,
  },
  osaka: {
    destructsOnlyCreated: true,
    delegation: true,
    calldataFloor: true,
    transactionGasCap: 16_777_216,
    maxBlobsPerTransaction: 6,
  },
}
