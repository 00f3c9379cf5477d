import type { Address, Hex } from 'viem'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { refusedPadding } from '../../erc4337/rules/index.js'
import { toHex, type InspectedCall, type InspectedEnd, type Inspector } from '../../evm/index.js'

/** How a call of the EntryPoint ended; revert data as far as the EntryPoint itself reports it. */
export type CallEnd = {
  readonly success: boolean
  readonly gasUsed: number
  /** The least gas with which it ends so; absent where it is not known. */
  readonly gasNeeded?: number
  /** `0x` when it succeeded. */
  readonly revertData: Hex
}

/** The steps of one operation inside handleOps, as the calls of the EntryPoint show them. */
export type Observation = {
  /** validationData of the account and of the paymaster; undefined until they have answered. */
  accountData: bigint | undefined
  paymasterData: bigint | undefined
  /** Revert data by which we refuse what the paymaster answered, where the EntryPoint does not (`refusedPadding`). */
  refused: Uint8Array | undefined
  /** wei that the EntryPoint asks of the account; absent where it is not known. */
  missingAccountFunds?: bigint
  /** Gas of the calls that create and validate the account. */
  accountGas: number
  /** Gas of the paymaster's validation. */
  paymasterGas: number
  /**
   * Gas of each verification as EntryPoints from v0.7 on compare it with its limit (AA26, AA36): the least limit with
   * which their check passes. Absent where it is not known.
   */
  accountCheck?: number
  paymasterCheck?: number
  /** The end of validation, undefined until it is reached. */
  validated: ValidationEnd | undefined
  /** The end of the account's call, and that of the paymaster's postOp; undefined until they ended. */
  call: CallEnd | undefined
  postOp: CallEnd | undefined
}

/** The facts of a validation that the EntryPoint hands over to execution. */
type ValidationEnd = {
  /** Gas of validation, preVerificationGas included. */
  readonly preOpGas: bigint
  /** wei */
  readonly prefund: bigint
  /** Bytes of the paymaster's context. */
  readonly contextSize: number
}

/** The end of validation, as the input of innerHandleOp shows it. */
export function validationEnd(input: Uint8Array, layout: EntryPoint['callLayout']): ValidationEnd {
  const contextAt = 4 + Number(wordAt(input, layout.contextAt))
  return {
    preOpGas: wordAt(input, layout.preOpGasAt),
    prefund: wordAt(input, layout.prefundAt),
    contextSize: Number(wordAt(input, contextAt)),
  }
}

/** How far an operation is run. */
export type Extent = 'validation' | 'execution'

/**
 * Revert data by which innerHandleOp reports to the EntryPoint that too little gas is left for the
 * operation's limits. The EntryPoint then reverts the whole call (AA95).
 */
const outOfGas = Uint8Array.from({ length: 32 }, (_, at) => [0xde, 0xad, 0xde, 0xad][at] ?? 0)

/** Bytes of return data that the EntryPoint reports at most. */
const MAX_RETURN_DATA = 2048

/**
 * An inspector of a handleOps with this one operation, and the observation that it fills in. Failed
 * signatures and ranges of validity are noted and hidden from the EntryPoint, which would end there (AA24,
 * AA34, AA22, AA27, AA32, AA37). With the extent 'validation' the
 * EntryPoint sees execution run out of gas: the whole call then reverts, and validation has
 * succeeded if `validated` is set.
 */
export function observeOperation(
  { address, callLayout }: Pick<EntryPoint, 'address' | 'callLayout'>,
  op: Pick<Operation, 'sender' | 'paymaster' | 'callData'>,
  extent: Extent,
): { readonly observed: Observation; readonly inspector: Inspector } {
  const observed: Observation = {
    accountData: undefined,
    paymasterData: undefined,
    refused: undefined,
    accountGas: 0,
    paymasterGas: 0,
    validated: undefined,
    call: undefined,
    postOp: undefined,
  }

  function isCall(
    { to, input }: InspectedCall,
    target: Address | undefined,
    selector: Hex,
  ): boolean {
    return to === target && toHex(input.subarray(0, 4)) === selector
  }

  /** The gas that the EntryPoint has read so far, and the check for which it reads it next. */
  const readings: number[] = []
  let check: 'accountCheck' | 'paymasterCheck' | undefined

  /** The EntryPoint's own calls before execution. */
  function duringValidation(call: InspectedCall, end: InspectedEnd): Uint8Array | undefined {
    const { success, output, gasUsed } = end
    if (isCall(call, op.paymaster, callLayout.validatePaymasterUserOp)) {
      observed.paymasterGas = gasUsed
      check = 'paymasterCheck'
      if (!success || output.length < 96) return undefined
      observed.paymasterData = wordAt(output, 32)
      observed.refused = refusedPadding(output)
      return withWord(output, 32, 0n)
    }
    observed.accountGas += gasUsed
    if (!isCall(call, op.sender, callLayout.validateUserOp)) return undefined
    observed.missingAccountFunds = wordAt(call.input, 68)
    check = 'accountCheck'
    if (!success || output.length < 32) return undefined
    observed.accountData = wordAt(output, 0)
    return withWord(output, 0, 0n)
  }

  /** Calls out of innerHandleOp: first that of the account, if there is one, then postOp. */
  function duringExecution(end: InspectedEnd): void {
    const { success, gasUsed, gasNeeded, output } = end
    const revertData = success ? '0x' : toHex(output.subarray(0, MAX_RETURN_DATA))
    const callEnd = { success, gasUsed, gasNeeded, revertData }
    if (op.callData !== '0x' && observed.call === undefined) observed.call = callEnd
    else observed.postOp ??= callEnd
  }

  const inspector: Inspector = {
    enter(call) {
      if (call.depth !== 1 || !isCall(call, address, callLayout.innerHandleOp)) return undefined
      observed.validated = validationEnd(call.input, callLayout)
      return extent === 'validation' ? { success: false, output: outOfGas } : undefined
    },
    readGas(depth, gas) {
      if (depth !== 0 || observed.validated !== undefined) return
      // Validation counts from its beginning, the paymaster's part from the reading before its call.
      const since = check === 'accountCheck' ? readings[0] : readings.at(-1)
      if (check !== undefined && since !== undefined) observed[check] = since - gas
      check = undefined
      readings.push(gas)
    },
    leave(call, end) {
      if (observed.validated === undefined) {
        return call.depth === 1 ? duringValidation(call, end) : undefined
      }
      if (call.depth === 2 && call.from === address) duringExecution(end)
      return undefined
    },
  }
  return { observed, inspector }
}

/** The word at an offset. What lies beyond the end is zero, as in calldata: a caller may put other code in the EntryPoint's place. */
function wordAt(bytes: Uint8Array, at: number): bigint {
  return BigInt(toHex(bytes.subarray(at, at + 32)).padEnd(66, '0'))
}

function withWord(bytes: Uint8Array, at: number, word: bigint): Uint8Array {
  const changed = bytes.slice()
  for (let i = 0; i < 32; i++) changed[at + 31 - i] = Number((word >> BigInt(8 * i)) & 0xffn)
  return changed
}
