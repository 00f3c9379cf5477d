/** Gas constants that no fork since Shanghai has changed, under the names of their EIPs. */

/** EIP-2929 access costs. */
export const WARM_ACCESS = 100
export const COLD_ACCOUNT = 2600
export const COLD_SLOT = 2100

/** EIP-2200 and EIP-3529 storage costs. */
export const STORAGE_SET = 20_000
export const STORAGE_RESET = 2900
export const STORAGE_CLEAR_REFUND = 4800
export const STORAGE_SENTRY = 2300

/** Calls and creations. */
export const CALL_VALUE = 9000
export const CALL_NEW_ACCOUNT = 25_000
export const CALL_STIPEND = 2300
export const MAX_CALL_DEPTH = 1024
export const CODE_BYTE = 200
export const MAX_CODE_SIZE = 24_576
export const MAX_INITCODE_SIZE = 2 * MAX_CODE_SIZE

/** Per 32-byte word. */
export const COPY_WORD = 3
export const KECCAK_WORD = 6
export const INITCODE_WORD = 2

/** Transactions. */
export const TRANSACTION = 21_000
export const TRANSACTION_CREATE = 32_000
export const ACCESS_LIST_ADDRESS = 2400
export const ACCESS_LIST_SLOT = 1900
export const AUTHORIZATION = 25_000
export const AUTHORIZATION_REFUND = 12_500
export const FLOOR_PER_TOKEN = 10
export const BLOB = 131_072
/** EIP-3529: a refund is at most the gas used divided by this. */
export const REFUND_QUOTIENT = 5

/** 32-byte words needed for `bytes` bytes. */
export function wordCount(bytes: number): number {
  return Math.ceil(bytes / 32)
}
