import type { Address, Hex } from 'viem'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { type FrameRecord, toHex } from '../../evm/index.js'
import { type Observation, validationEnd } from '../inProcess/observeOperation.js'

/** The answers of account and paymaster, and the end of validation if it was reached. */
export type ObservedCalls = Pick<Observation, 'accountData' | 'paymasterData' | 'validated'>

/** A call of the EntryPoint, as any tracer tells it. */
type EntryPointCall = Pick<FrameRecord, 'input' | 'output'> & {
  readonly to: Address | undefined
  /** Undefined = it succeeded. */
  readonly error: unknown
}

/** The answers that the calls in the EntryPoint's frame show. */
export function observeCalls(
  { address, callLayout }: Pick<EntryPoint, 'address' | 'callLayout'>,
  { sender, paymaster }: Pick<Operation, 'sender' | 'paymaster'>,
  root: { readonly calls: readonly EntryPointCall[] },
): ObservedCalls {
  const find = (to: Address | undefined, selector: Hex) =>
    root.calls.find((call) => call.to === to && toHex(call.input.subarray(0, 4)) === selector)
  const answerOf = (call: EntryPointCall | undefined, at: number, size: number) =>
    call?.error === undefined && call && call.output.length >= size
      ? wordAt(call.output, at)
      : undefined
  const inner = find(address, callLayout.innerHandleOp)
  return {
    accountData: answerOf(find(sender, callLayout.validateUserOp), 0, 32),
    paymasterData: answerOf(find(paymaster, callLayout.validatePaymasterUserOp), 32, 96),
    validated: inner && validationEnd(inner.input, callLayout),
  }
}

function wordAt(bytes: Uint8Array, at: number): bigint {
  return BigInt(toHex(bytes.subarray(at, at + 32)))
}
