import {
  type Address,
  type BaseError,
  concatHex,
  decodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  parseAbiParameters,
} from 'viem'
import { abi as tank06Abi } from '../../../src/chain/contracts/generated/Tank06.js'
import { abi as tank07Abi } from '../../../src/chain/contracts/generated/Tank07.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { TimeRange } from '../../../src/erc4337/validationData.js'
import { revertReasonOf, type VersionChain } from '../world/versionChain.js'

const HASH: Hex = `0x${'00'.repeat(32)}`

function initCode({ factory, factoryData }: Operation): Hex {
  return factory ? concatHex([factory, factoryData]) : '0x'
}

function pair(high: bigint, low: bigint): Hex {
  return encodePacked(['uint128', 'uint128'], [high, low])
}

/** The struct of EntryPoint v0.6, packed by viem. */
export function operation06(op: Operation) {
  return {
    ...op,
    initCode: initCode(op),
    paymasterAndData: concatHex([op.paymaster!, op.paymasterData]),
  }
}

/** The struct of EntryPoint v0.7 and later, packed by viem. */
export function operation07(op: Operation) {
  return {
    ...op,
    initCode: initCode(op),
    accountGasLimits: pair(op.verificationGasLimit, op.callGasLimit),
    gasFees: pair(op.maxPriorityFeePerGas, op.maxFeePerGas),
    paymasterAndData: concatHex([
      op.paymaster!,
      pair(op.paymasterVerificationGasLimit, op.paymasterPostOpGasLimit),
      op.paymasterData,
    ]),
  }
}

/** The answer of the operation's tank for `op`. */
export function hashFromTank(
  { wallet, version }: VersionChain,
  op: Operation,
  { validUntil, validAfter }: TimeRange,
): Promise<Hex> {
  const address = op.paymaster!
  const functionName = 'getHash'
  return version === '0.6'
    ? wallet.readContract({
        address,
        abi: tank06Abi,
        functionName,
        args: [operation06(op), validUntil, validAfter],
      })
    : wallet.readContract({
        address,
        abi: tank07Abi,
        functionName,
        args: [operation07(op), validUntil, validAfter],
      })
}

/** Calldata of validatePaymasterUserOp, as the EntryPoint sends it. */
export function encodeValidation({ version }: VersionChain, op: Operation): Hex {
  const functionName = 'validatePaymasterUserOp'
  return version === '0.6'
    ? encodeFunctionData({ abi: tank06Abi, functionName, args: [operation06(op), HASH, 0n] })
    : encodeFunctionData({ abi: tank07Abi, functionName, args: [operation07(op), HASH, 0n] })
}

export type TankAnswer = {
  readonly context: Hex
  readonly authorizer: bigint
  readonly validUntil: number
  readonly validAfter: number
}

/** The tank's answer to validatePaymasterUserOp, or the text it reverts with. */
export async function askTank(
  chain: VersionChain,
  op: Operation,
  from: Address = chain.entryPoint.address,
): Promise<TankAnswer | string> {
  const call = { account: from, to: op.paymaster!, data: encodeValidation(chain, op) }
  return chain.wallet.call(call).then(
    ({ data }) => decodeAnswer(data!),
    (error: BaseError) => revertReasonOf(error),
  )
}

function decodeAnswer(data: Hex): TankAnswer {
  const [context, validationData] = decodeAbiParameters(parseAbiParameters('bytes, uint256'), data)
  return {
    context,
    authorizer: validationData & ((1n << 160n) - 1n),
    validUntil: Number((validationData >> 160n) & 0xffffffffffffn),
    validAfter: Number(validationData >> 208n),
  }
}
