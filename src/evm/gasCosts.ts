/** Gas constants under the names of their EIPs: those that no fork since Shanghai has changed, and the others by fork. */

/** EIP-2929. */
export const WARM_ACCESS = 100
export const COLD_SLOT = 2100

/** EIP-2200: SSTORE needs more than this. */
export const STORAGE_SENTRY = 2300

/** Calls and creations. */
export const CALL_STIPEND = 2300
export const MAX_CALL_DEPTH = 1024

/** Per 32-byte word. */
export const COPY_WORD = 3
export const KECCAK_WORD = 6
export const INITCODE_WORD = 2

/** Transactions. */
/** EIP-3529: a refund is at most the gas used divided by this. */
export const REFUND_QUOTIENT = 5

/** The prices that differ between forks. State gas (EIP-8037) is 0 before Amsterdam. */
export type GasCosts = {
  coldAccount: number
  /** SSTORE: for a slot that is not warm, besides the price of the write. */
  writeColdSlot: number
  /** SSTORE: the first change of a slot that had a value, and of one that had none. */
  slotReset: number
  slotSet: number
  slotSetState: number
  slotClearRefund: number
  callValue: number
  /** A value that makes an account: by CALL, by SELFDESTRUCT, and its state gas for both and for a creation. */
  callNewAccount: number
  destructNewAccount: number
  newAccountState: number
  /** The code of a creation: by byte, by word, and state gas by byte. */
  codeByte: number
  codeWord: number
  codeByteState: number
  maxCodeSize: number
  /** A transaction: its base, what a recipient other than the sender adds, and a value for it; a creation. */
  transaction: number
  recipient: number
  recipientValue: number
  creation: number
  accessListAddress: number
  accessListSlot: number
  /** EIP-7702: taken for each authorization; given back, or taken as it is applied, by the state of its authority. */
  authorization: number
  authorizationRefund: number
  authorizationWrite: number
  authorizationState: number
  /** EIP-7623: the floor of call data by byte that is zero, and by any other; 0 where there is none. */
  floorZeroByte: number
  floorByte: number
}

/** Shanghai to Osaka. */
export const shanghaiCosts: GasCosts = {
  coldAccount: 2600,
  writeColdSlot: 2100,
  slotReset: 2900,
  slotSet: 20_000,
  slotSetState: 0,
  slotClearRefund: 4800,
  callValue: 9000,
  callNewAccount: 25_000,
  destructNewAccount: 25_000,
  newAccountState: 0,
  codeByte: 200,
  codeWord: 0,
  codeByteState: 0,
  maxCodeSize: 24_576,
  transaction: 21_000,
  recipient: 0,
  recipientValue: 0,
  creation: 32_000,
  accessListAddress: 2400,
  accessListSlot: 1900,
  authorization: 25_000,
  authorizationRefund: 12_500,
  authorizationWrite: 0,
  authorizationState: 0,
  floorZeroByte: 0,
  floorByte: 0,
}

/** EIP-7623 (Prague). */
export const pragueCosts: GasCosts = { ...shanghaiCosts, floorZeroByte: 10, floorByte: 40 }

/** EIP-8037: state gas by byte that the state grows. */
const STATE_BYTE = 1530
/** EIP-7976: the floor by byte of call data, also (EIP-7981) of an access list, which pays it in any case. */
const FLOOR_BYTE = 64

/** EIP-2780, 7954, 7976, 7981, 8037 and 8038. */
export const amsterdamCosts: GasCosts = {
  coldAccount: 3000,
  writeColdSlot: 2000,
  slotReset: 10_100,
  slotSet: 10_100,
  slotSetState: 64 * STATE_BYTE,
  slotClearRefund: 11_616,
  callValue: 11_300,
  callNewAccount: 0,
  destructNewAccount: 9000,
  newAccountState: 120 * STATE_BYTE,
  codeByte: 0,
  codeWord: KECCAK_WORD,
  codeByteState: STATE_BYTE,
  maxCodeSize: 65_536,
  transaction: 12_000,
  recipient: 3000,
  recipientValue: 6000,
  creation: 12_000,
  accessListAddress: 2900 + 20 * FLOOR_BYTE,
  accessListSlot: 2000 + 32 * FLOOR_BYTE,
  authorization: 7816,
  authorizationRefund: 0,
  authorizationWrite: 9000,
  authorizationState: 23 * STATE_BYTE,
  floorZeroByte: FLOOR_BYTE,
  floorByte: FLOOR_BYTE,
}

/** 32-byte words needed for `bytes` bytes. */
export function wordCount(bytes: number): number {
  return Math.ceil(bytes / 32)
}
