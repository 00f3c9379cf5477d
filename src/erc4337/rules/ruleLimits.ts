/** LIM-050: bytes of all contexts of a bundle at most, as many as the largest single one. */
export const MAX_BUNDLE_CONTEXTS = 65_536

/** The numbers behind the LIM rules. Sizes in bytes. */
export type RuleLimits = {
  /** LIM-010 */
  readonly maxOperationSize: number
  /** LIM-020 */
  readonly maxContextSize: number
  /** LIM-030, gas */
  readonly verificationGasSlack: bigint
  /** LIM-060, gas; a limit must be lower */
  readonly maxVerificationGas: bigint
  /** LIM-070, gas */
  readonly preVerificationOverheadGas: bigint
  /** Whether a sender that is created may read the size or hash of code that is not there (OP-041). */
  readonly readsMissingCode: boolean
}

/**
 * The limits by profile. `canonical` is ERC-7562 to the letter. `lenient` admits the operations that
 * wallets and the public compliance suite send: verification limits of millions or without slack, little
 * preVerificationGas (the real need is computed elsewhere), operations as large as a transaction may be,
 * and accounts that make sure while they are created that their owner is no contract.
 */
export const limitProfiles = {
  canonical: {
    maxOperationSize: 8_192,
    maxContextSize: 2_048,
    verificationGasSlack: 4_000n,
    maxVerificationGas: 500_000n,
    preVerificationOverheadGas: 50_000n,
    readsMissingCode: false,
  },
  lenient: {
    maxOperationSize: 117_964,
    maxContextSize: 65_536,
    verificationGasSlack: 0n,
    maxVerificationGas: 10_000_000n,
    preVerificationOverheadGas: 0n,
    readsMissingCode: true,
  },
} as const satisfies Readonly<Record<string, RuleLimits>>
