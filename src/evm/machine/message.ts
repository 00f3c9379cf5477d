import type { EvmAccount } from '../state/account.js'
import type { FrameKind } from './record.js'

/** A call or creation about to begin. */
export type Message = {
  kind: FrameKind
  /** The account that makes the call. */
  from: EvmAccount
  /** The account called or created. */
  to: EvmAccount
  /** msg.sender as the new frame sees it. */
  caller: EvmAccount
  /** The account whose storage the new frame works on. */
  self: EvmAccount
  /** msg.value as the new frame sees it. */
  value: bigint
  /** Calldata, or initcode for a creation. */
  input: Uint8Array
  gas: number
  /** State gas that the new frame gets besides (EIP-8037); 0 before Amsterdam. */
  reservoir: number
  /** State gas paid for the account that it makes: given back when it fails. */
  accountGas: number
  isStatic: boolean
  /** Offset in the parent's memory at which it wants the output. */
  outputAt: number
  /** Bytes of output that the parent takes at most. */
  outputSize: number
}
