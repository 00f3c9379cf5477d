/** The facts in which the versions of the EntryPoint contract differ, as far as other modules ask for them. */
export type VersionFacts = {
  /**
   * Whether an operation in JSON has factory and paymaster packed with their data, as `initCode` and
   * `paymasterAndData`; else each part is a field of its own (ERC-7769).
   */
  readonly packsEntities: boolean
  /**
   * Whether a paymaster has gas limits of its own; else verificationGasLimit bounds its validation
   * together with the account's, and its postOp.
   */
  readonly hasPaymasterLimits: boolean
  /** Whether an operation can carry an EIP-7702 authorization (ERC-7769). */
  readonly carriesAuthorization: boolean
  /** Whether the EIP-7702 marker `0x7702` may stand as factory. */
  readonly knowsDelegationMarker: boolean
  /** Whether the account's signature leaves out that of the paymaster, which may so sign last. */
  readonly paymasterMaySignLate: boolean
  /** Whether bounds of validity with their top bit set are block numbers. */
  readonly hasBlockRanges: boolean
}

const packed = {
  packsEntities: false,
  hasPaymasterLimits: true,
  carriesAuthorization: true,
} as const

/**
 * The versions that Purser knows, the oldest first. A row here and a file in `versions/` make a new one;
 * the compiler names the tables that lack it.
 */
const table = {
  '0.6': {
    packsEntities: true,
    hasPaymasterLimits: false,
    carriesAuthorization: false,
    knowsDelegationMarker: false,
    paymasterMaySignLate: false,
    hasBlockRanges: false,
  },
  '0.7': {
    ...packed,
    knowsDelegationMarker: false,
    paymasterMaySignLate: false,
    hasBlockRanges: false,
  },
  '0.8': {
    ...packed,
    knowsDelegationMarker: true,
    paymasterMaySignLate: false,
    hasBlockRanges: false,
  },
  '0.9': {
    ...packed,
    knowsDelegationMarker: true,
    paymasterMaySignLate: true,
    hasBlockRanges: true,
  },
} as const satisfies Readonly<Record<string, VersionFacts>>

export type Version = keyof typeof table

export const versionFacts: Readonly<Record<Version, VersionFacts>> = table

/** All versions, the oldest first. */
export const versions = Object.keys(table) as readonly Version[]
