import type { Address, Hex } from 'viem'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { type FrameRecord, toHex } from '../../evm/index.js'
import type { Observation } from '../inProcess/observeOperation.js'

/** What account and paymaster answered, and how validation ended if it came so far. */
export type ObservedCalls = Pick<Observation, 'accountData' | 'paymasterData' | 'validated'>

/** A call of the EntryPoint, as any tracer tells it. */
type SeenCall = Pick<FrameRecord, 'input' | 'output'> & {
  readonly to: Address | undefined
  /** Undefined = it succeeded. */
  readonly error: unknown
}

/** Reads them from the calls that the EntryPoint's frame made. */
export function observeCalls(
  { address, callLayout }: Pick<EntryPoint, 'address' | 'callLayout'>,
  { sender, paymaster }: Pick<Operation, 'sender' | 'paymaster'>,
  root: { readonly calls: readonly SeenCall[] },
): ObservedCalls {
  const find = (to: Address | undefined, selector: Hex) =>
    root.calls.find((call) => call.to === to && toHex(call.input.subarray(0, 4)) === selector)
  const answerOf = (call: SeenCall | undefined, at: number, size: number) =>
    call?.error === undefined && call && call.output.length >= size
      ? wordAt(call.output, at)
      : undefined
  const inner = find(address, callLayout.innerHandleOp)
  return {
    accountData: answerOf(find(sender, callLayout.validateUserOp), 0, 32),
    paymasterData: answerOf(find(paymaster, callLayout.validatePaymasterUserOp), 32, 96),
    validated: inner && {
      preOpGas: wordAt(inner.input, callLayout.preOpGasAt),
      prefund: wordAt(inner.input, callLayout.prefundAt),
    },
  }
}

function wordAt(bytes: Uint8Array, at: number): bigint {
  return BigInt(toHex(bytes.subarray(at, at + 32)))
}
