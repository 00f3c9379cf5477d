import type { Hex } from 'viem'

/** The layout of the calls that handleOps makes, for an observer who reads them. */
export type CallLayout = {
  /** Selectors. */
  readonly validateUserOp: Hex
  readonly validatePaymasterUserOp: Hex
  readonly innerHandleOp: Hex
  /** Positions in the input of innerHandleOp, in bytes, of prefund, preOpGas and the context's offset. */
  readonly prefundAt: number
  readonly preOpGasAt: number
  readonly contextAt: number
}

/** Byte position of the argument word with this number, behind a selector. */
function wordAt(index: number): number {
  return 4 + 32 * index
}

/** In innerHandleOp the offset of callData comes first, then 8 words of operation and its hash. */
export const callLayoutV06: CallLayout = {
  validateUserOp: '0x3a871cdd',
  validatePaymasterUserOp: '0xf465c77e',
  innerHandleOp: '0x1d732756',
  prefundAt: wordAt(10),
  preOpGasAt: wordAt(12),
  contextAt: wordAt(13),
}

/** v0.7 and later: 10 words of operation, two more for the paymaster's limits. */
export const callLayoutPacked: CallLayout = {
  validateUserOp: '0x19822f7c',
  validatePaymasterUserOp: '0x52b7512c',
  innerHandleOp: '0x0042dc53',
  prefundAt: wordAt(12),
  preOpGasAt: wordAt(14),
  contextAt: wordAt(15),
}
