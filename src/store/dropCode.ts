import type { AaCode } from '../entrypoint/entryPoint.js'

/** The codes of our own with which an operation leaves the pool, each with its meaning. */
export const dropCodes = {
  REPLACED: 'An operation of the same sender and nonce with higher fees took its place.',
  EVICTED: 'The pool was full and another operation offered more.',
  PREDECESSOR_DROPPED:
    'The operation with the nonce before it was dropped; nothing of that key can go before it is sent again.',
  EXPIRED: 'Its validity ended, or would end before a bundle with it is surely mined.',
  WAITED_TOO_LONG: 'No bundle took it for as long as operations may wait.',
  TOO_COSTLY: 'Validated again before its bundle, it took more work than an operation may.',
  REVERTED: 'handleOps reverts with it alone, and the EntryPoint gives no code.',
  BUNDLE_FAILED: 'Bundles with it failed on the chain as often as may be.',
  BUNDLE_NOT_SHARED:
    'Its preVerificationGas pays for a share of a bundle, and too few others came to share one.',
  STALE_AUTHORIZATION:
    "Its EIP-7702 authorization can no longer apply: the sender's account has used that nonce.",
  CHARGE_FAILS: 'Run again before its bundle, it left no tokens for its gas.',
  CANCELLED: 'The operator or the owner of the app cancelled it.',
  CLEARED: 'The pool was cleared by a debug method.',
  CHAIN_RESET: 'The development chain began anew after it was included.',
} as const

/** An identifier of ERC-7562: `OP-011`, `GREP-010`. */
export type RuleCode = `${'AUTH' | 'COD' | 'EREP' | 'GREP' | 'LIM' | 'OP' | 'STO'}-${number}`

/** The code with which an operation left the pool: ours, the EntryPoint's, or the rule that it broke. */
export type DropCode = keyof typeof dropCodes | AaCode | RuleCode

/** The codes of what happened to an operation that is not lost by it, each with its meaning. */
export const historyCodes = {
  RETURNED: 'Its bundle was not mined, for no fault of the operation: it waits for another one.',
  SUSPECTED:
    'Its bundle failed on the chain. The operation may be the reason, so it goes into another one and is dropped when that repeats.',
  REORGED:
    'The block that had included it left the chain. The operation is sent again by itself, and an earlier receipt of it no longer holds.',
  CALL_REVERTED:
    'It was included and its call reverted: the gas is paid, the nonce is used, and nothing else of the call remains.',
} as const

export type HistoryCode = keyof typeof historyCodes
