import type { Hex } from 'viem'
import { concat, numberToHex } from 'viem/utils'
import type { Fees } from '../../erc4337/fees.js'
import type { Operation } from '../../erc4337/operation.js'
import { splitPaymasterSignature } from '../../erc4337/paymasterSignature.js'
import { type Version, versionFacts } from '../../erc4337/versionFacts.js'

/** An operation in the JSON-RPC shape of its EntryPoint version; quantities are hex (ERC-7769). */
export function encodeOperation(op: Operation, version: Version) {
  const { packsEntities } = versionFacts[version]
  return {
    sender: op.sender,
    nonce: numberToHex(op.nonce),
    ...(packsEntities && { initCode: packEntity(op.factory, op.factoryData) }),
    ...(!packsEntities &&
      op.factory !== undefined && { factory: op.factory, factoryData: op.factoryData }),
    callData: op.callData,
    ...encodeLimits(op, numberToHex),
    ...encodeHexFees(op),
    ...(packsEntities
      ? { paymasterAndData: packEntity(op.paymaster, op.paymasterData) }
      : encodePayer(op, versionFacts[version].paymasterMaySignLate)),
    signature: op.signature,
    ...(op.authorization !== undefined && {
      eip7702Auth: {
        chainId: numberToHex(op.authorization.chainId),
        address: op.authorization.address,
        nonce: numberToHex(op.authorization.nonce),
        yParity: numberToHex(op.authorization.yParity),
        r: op.authorization.r,
        s: op.authorization.s,
      },
    }),
  }
}

/** v0.6: address and data in one; `0x` when there is no such entity. */
export function packEntity(address: Hex | undefined, data: Hex): Hex {
  return address === undefined ? '0x' : concat([address, data])
}

type PaymasterFields = Pick<
  Operation,
  'paymaster' | 'paymasterData' | 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit'
>

/** v0.7 and later: the four fields of a paymaster, none when there is none. */
function encodePaymaster(op: PaymasterFields) {
  return (
    op.paymaster !== undefined && {
      paymaster: op.paymaster,
      paymasterVerificationGasLimit: numberToHex(op.paymasterVerificationGasLimit),
      paymasterPostOpGasLimit: numberToHex(op.paymasterPostOpGasLimit),
      paymasterData: op.paymasterData,
    }
  )
}

/** The same; with `separateSignature` a late signature stands in a field of its own, as viem has it. */
export function encodePayer(payer: PaymasterFields, separateSignature: boolean) {
  const late = separateSignature ? splitPaymasterSignature(payer.paymasterData) : undefined
  if (late === undefined) return encodePaymaster(payer)
  return {
    ...encodePaymaster({ ...payer, paymasterData: late.data }),
    paymasterSignature: late.signature,
  }
}

type Limits = Pick<Operation, 'callGasLimit' | 'verificationGasLimit' | 'preVerificationGas'>

export function encodeLimits<Encoded>(op: Limits, encode: (gas: bigint) => Encoded) {
  return {
    callGasLimit: encode(op.callGasLimit),
    verificationGasLimit: encode(op.verificationGasLimit),
    preVerificationGas: encode(op.preVerificationGas),
  }
}

/** Fees in wei per gas, as hex. */
export function encodeHexFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees) {
  return {
    maxFeePerGas: numberToHex(maxFeePerGas),
    maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
  }
}
