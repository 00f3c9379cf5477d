import type { Address, Hex } from 'viem'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { toHex, type WatchedCall, type WatchedEnd, type Watcher } from '../../evm/index.js'

/** How a call of the EntryPoint ended; revert data as far as the EntryPoint itself reports it. */
export type CallEnd = {
  readonly success: boolean
  readonly gasUsed: number
  /** `0x` when it succeeded. */
  readonly revertData: Hex
}

/** What one operation did inside handleOps, seen from outside. */
export type Observation = {
  /** validationData as the account and the paymaster gave it. */
  accountData: bigint | undefined
  paymasterData: bigint | undefined
  /** Gas of the calls that create and validate the account, and of that to the paymaster. */
  accountGas: number
  paymasterGas: number
  /** Validation came to its end: gas of it, preVerificationGas included, and wei. */
  validated: { readonly preOpGas: bigint; readonly prefund: bigint } | undefined
  /** The call of the account, and the paymaster's postOp. */
  call: CallEnd | undefined
  postOp: CallEnd | undefined
}

/** How far an operation is run. */
export type Extent = 'validation' | 'execution'

/** With this innerHandleOp tells the EntryPoint that gas does not hold the limits; it reverts (AA95). */
const outOfGas = Uint8Array.from({ length: 32 }, (_, at) => [0xde, 0xad, 0xde, 0xad][at] ?? 0)

/** As much return data as the EntryPoint reports. */
const MAX_RETURN_DATA = 2048

/**
 * Watches a handleOps with this one operation. Failed signatures and time ranges are noted and kept
 * from the EntryPoint, which would end there (AA24, AA34, AA22, AA32); only ranges of block numbers
 * are left to it. With the extent 'validation' the EntryPoint is told that execution ran out of gas:
 * the whole call then reverts, and whether `validated` is set tells how validation ended.
 */
export function observeOperation(
  { address, callLayout }: Pick<EntryPoint, 'address' | 'callLayout'>,
  op: Pick<Operation, 'sender' | 'paymaster' | 'callData'>,
  extent: Extent,
): { readonly observed: Observation; readonly watcher: Watcher } {
  const observed: Observation = {
    accountData: undefined,
    paymasterData: undefined,
    accountGas: 0,
    paymasterGas: 0,
    validated: undefined,
    call: undefined,
    postOp: undefined,
  }

  function isCall({ to, input }: WatchedCall, target: Address | undefined, selector: Hex): boolean {
    return to === target && toHex(input.subarray(0, 4)) === selector
  }

  /** The EntryPoint's own calls before execution. */
  function duringValidation(call: WatchedCall, end: WatchedEnd): Uint8Array | undefined {
    const { success, output, gasUsed } = end
    if (isCall(call, op.paymaster, callLayout.validatePaymasterUserOp)) {
      observed.paymasterGas = gasUsed
      if (!success || output.length < 96) return undefined
      observed.paymasterData = wordAt(output, 32)
      return withWord(output, 32, accepted(observed.paymasterData))
    }
    observed.accountGas += gasUsed
    if (!isCall(call, op.sender, callLayout.validateUserOp)) return undefined
    if (!success || output.length < 32) return undefined
    observed.accountData = wordAt(output, 0)
    return withWord(output, 0, accepted(observed.accountData))
  }

  /** Calls out of innerHandleOp: that of the account, if any, then postOp. */
  function duringExecution(end: WatchedEnd): void {
    const { success, gasUsed, output } = end
    const revertData = success ? '0x' : toHex(output.subarray(0, MAX_RETURN_DATA))
    const ended = { success, gasUsed, revertData }
    if (op.callData !== '0x' && observed.call === undefined) observed.call = ended
    else observed.postOp ??= ended
  }

  const watcher: Watcher = {
    enter(call) {
      if (call.depth !== 1 || !isCall(call, address, callLayout.innerHandleOp)) return undefined
      observed.validated = {
        preOpGas: wordAt(call.input, callLayout.preOpGasAt),
        prefund: wordAt(call.input, callLayout.prefundAt),
      }
      return extent === 'validation' ? { success: false, output: outOfGas } : undefined
    },
    leave(call, end) {
      if (observed.validated === undefined) {
        return call.depth === 1 ? duringValidation(call, end) : undefined
      }
      if (call.depth === 2 && call.from === address) duringExecution(end)
      return undefined
    },
  }
  return { observed, watcher }
}

const BLOCK_RANGE = (1n << 255n) | (1n << 207n)

/** validationData without what would end the run: the authorizer, and bounds that are times. */
function accepted(data: bigint): bigint {
  const isBlockRange = (data & BLOCK_RANGE) === BLOCK_RANGE
  return isBlockRange ? (data >> 160n) << 160n : 0n
}

function wordAt(bytes: Uint8Array, at: number): bigint {
  return BigInt(toHex(bytes.subarray(at, at + 32)))
}

function withWord(bytes: Uint8Array, at: number, word: bigint): Uint8Array {
  const changed = bytes.slice()
  for (let i = 0; i < 32; i++) changed[at + 31 - i] = Number((word >> BigInt(8 * i)) & 0xffn)
  return changed
}
