import type { Address, Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData, numberToHex } from 'viem/utils'
import { CannotSimulateError } from '../../base/errors/simulationErrors.js'
import { abi, runtime } from '../../chain/contracts/generated/Probe.js'
import { ethCall, type StateOverride } from '../../chain/ethCall.js'
import type { BlockId } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { DELEGATION_MARKER } from '../../erc4337/delegation.js'
import { addressWord, digits, encodeTuple, uintWord } from '../../erc4337/encoding/abiWriter.js'
import { depositSlot } from '../../erc4337/encoding/storageLayout.js'
import { joinEntity } from '../../erc4337/entity.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { refusedPadding } from '../../erc4337/rules/index.js'
import { createAddress, fromHex } from '../../evm/index.js'
import { authorizationOverride, mergeOverrides } from '../evmOverrides.js'
import type { CallEnd, Extent, Observation } from '../inProcess/observeOperation.js'
import { HANDLER } from '../inProcess/simulateOperation.js'
import type { MeasuredRun } from '../measureSteps.js'

/** The address at which contracts/Probe.sol expects the EntryPoint's code, and the slot of the layout. */
const ORIGINAL_AT: Address = '0x000070757273657220656e74727920706f696e74'
const LAYOUT_SLOT: Hex = `0x${'70757273657200'.padStart(64, '0')}`

const CREATE_SENDER = '0x570e1a36'
const INIT_SENDER = '0xc09ad0d9'
const zeroWord = '0'.repeat(64)

/** With these the EntryPoint refuses what was validated: a wrong signature, or another time. */
const afterValidation = new Set(['AA22', 'AA24', 'AA27', 'AA32', 'AA34', 'AA37'])
/**
 * Gas of handleOps around the validation that it meters, at least as much as there is: 4,000 to 8,000 by the
 * prices of Ethereum. It counts where the EntryPoint does not come to say what validation used.
 */
const AROUND_VALIDATION = 12_000n

/** An operation in the state of a block of a node. */
export type ProbedOperation = {
  readonly node: NodeClient
  readonly entryPoint: EntryPoint
  /** The EntryPoint's code. */
  readonly code: Hex
  readonly op: Operation
  readonly block: BlockId
  readonly override: StateOverride
}

/** Runs an operation by one eth_call of the probe in the EntryPoint's place, whatever its signatures. */
export async function runProbe(probed: ProbedOperation, extent: Extent): Promise<MeasuredRun> {
  const { node, entryPoint, op, block } = probed
  const { bundleCap } = entryPoint.gas()
  const request = {
    from: HANDLER,
    to: entryPoint.address,
    data: encodeFunctionData({ abi, functionName: 'run', args: [planOf(entryPoint, op, extent)] }),
    // Of more than that nobody sees the state gas (EIP-8037).
    ...(Number.isFinite(bundleCap) && { gas: BigInt(bundleCap) }),
  }
  const outcome = await ethCall(node, request, block, placeProbe(probed))
  if (!outcome.ok)
    throw new NodeUnavailableError('eth_call there grants too little gas to run this operation')
  return observe(
    entryPoint,
    op,
    extent,
    decodeFunctionResult({ abi, functionName: 'run', data: outcome.data }),
  )
}

function placeProbe({ entryPoint, op, code, override }: ProbedOperation): StateOverride {
  const { address, callLayout } = entryPoint
  const { innerHandleOp, prefundAt, preOpGasAt, contextAt } = callLayout
  const positions = [prefundAt, preOpGasAt, contextAt].map((at) => numberToHex(at, { size: 2 }))
  const layout = `${innerHandleOp}${positions.map(digits).join('')}`.padEnd(66, '0') as Hex
  const pretended = mergeOverrides(authorizationOverride(op), override)
  return mergeOverrides(pretended, {
    [address]: { code: runtime, stateDiff: { [LAYOUT_SLOT]: layout } },
    [ORIGINAL_AT]: { code: override[address]?.code ?? code },
  })
}

/** The calls that the EntryPoint makes for an operation. */
function planOf(entryPoint: EntryPoint, op: Operation, extent: Extent) {
  const { address, callLayout, hasPaymasterLimits } = entryPoint
  const { sender, paymaster } = op
  const prefund = entryPoint.requiredPrefund(op)
  const encoded = entryPoint.encodeOperation(op)
  // Behind the offset that it has as a single argument.
  const tuple = { encoded: encoded.slice(66) }
  const takesOperation =
    callLayout.executeUserOp !== undefined && op.callData.startsWith(callLayout.executeUserOp)
  return {
    handleOps: entryPoint.encodeHandleOps([op], HANDLER),
    hash: `${callLayout.getUserOpHash}${digits(encoded)}` as const,
    creator: createAddress(address, 1n),
    ...creationOf(op),
    sender,
    validation: `${callLayout.validateUserOp}${encodeTuple([tuple, zeroWord, zeroWord])}` as const,
    prefund: paymaster === undefined ? prefund : 0n,
    depositSlot: BigInt(depositSlot(sender)),
    paymaster: paymaster ?? sender,
    sponsoring: (paymaster === undefined
      ? '0x'
      : `${callLayout.validatePaymasterUserOp}${encodeTuple([tuple, zeroWord, uintWord(prefund, 'prefund')])}`) as Hex,
    execution: takesOperation
      ? (`${callLayout.executeUserOp}${encodeTuple([tuple, zeroWord])}` as Hex)
      : op.callData,
    executionTakesHash: takesOperation,
    executes: extent === 'execution',
    postOp: callLayout.postOp,
    preVerificationGas: op.preVerificationGas,
    fee: op.maxFeePerGas,
    verificationLimit: op.verificationGasLimit,
    paymasterLimit: hasPaymasterLimits ? op.paymasterVerificationGasLimit : op.verificationGasLimit,
    callLimit: op.callGasLimit,
    postOpLimit: hasPaymasterLimits ? op.paymasterPostOpGasLimit : op.verificationGasLimit,
  }
}

/** The call of the SenderCreator; an EIP-7702 account has code before it is made, and none where there is nothing to begin with. */
function creationOf({ sender, factory, factoryData }: Operation) {
  if (factory === undefined) return { creation: '0x', createsAlways: false } as const
  if (factory === DELEGATION_MARKER) {
    const data = digits(factoryData)
    const call: Hex = `${INIT_SENDER}${encodeTuple([addressWord(sender), { bytes: data }])}`
    return { creation: data === '' ? ('0x' as const) : call, createsAlways: true }
  }
  const call: Hex = `${CREATE_SENDER}${encodeTuple([{ bytes: joinEntity(factory, factoryData) }])}`
  return { creation: call, createsAlways: false }
}

type ProbeAnswer = ReturnType<typeof decodeFunctionResult<typeof abi, 'run'>>
type Made = ProbeAnswer[1][number]

function observe(
  entryPoint: EntryPoint,
  op: Operation,
  extent: Extent,
  [handled, [created, validated, sponsored, executed, settled]]: ProbeAnswer,
): MeasuredRun {
  const code = handled.success ? undefined : entryPoint.decodeFailure(handled.output)?.code
  const answer = fromHex(sponsored.output)
  const isSponsored = sponsored.success && answer.length >= 96
  const refused = isSponsored ? refusedPadding(answer) : undefined
  const wordOf = (bytes: Hex, at: number) => BigInt(`0x${bytes.slice(2 + 2 * at, 66 + 2 * at)}`)
  const accountData =
    validated.success && validated.output.length >= 66 ? wordOf(validated.output, 0) : undefined
  const isPastValidation = handled.success || (code !== undefined && afterValidation.has(code))
  const used = handled.success
    ? {
        preOpGas: handled.preOpGas,
        prefund: handled.prefund,
        contextSize: Number(handled.contextSize),
      }
    : {
        preOpGas: op.preVerificationGas + smaller(handled.gasUsed),
        prefund: entryPoint.requiredPrefund(op),
        contextSize: isSponsored
          ? Number(wordOf(sponsored.output, Number(wordOf(sponsored.output, 0))))
          : 0,
      }
  const observed: Observation = {
    // The EntryPoint's verdict counts where the account answers otherwise when it is asked alone.
    accountData: accountData ?? (code === 'AA24' ? 1n : undefined),
    paymasterData: isSponsored ? wordOf(sponsored.output, 32) : undefined,
    refused,
    accountGas: Number(created.gasUsed + validated.gasUsed),
    paymasterGas: Number(sponsored.gasUsed),
    validated: isPastValidation && !refused ? used : undefined,
    call: endOf(executed),
    postOp: endOf(settled),
  }
  if (observed.validated && extent === 'execution' && op.callData !== '0x' && !observed.call)
    throw new CannotSimulateError('its account or paymaster validates only inside of handleOps')
  const output = refused ?? fromHex(handled.output)
  return { observed, success: observed.validated !== undefined, output }
}

function smaller(gas: bigint): bigint {
  return gas > AROUND_VALIDATION ? gas - AROUND_VALIDATION : 0n
}

function endOf({ made, success, gasUsed, output }: Made): CallEnd | undefined {
  return made
    ? { success, gasUsed: Number(gasUsed), revertData: success ? '0x' : output }
    : undefined
}
