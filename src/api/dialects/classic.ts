import type { Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import { remembered } from '../../base/remembered.js'
import type { OperationReceipt } from '../../bundler/operationViews.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { Log } from '../../erc4337/entryPoint.js'
import { versionFacts } from '../../erc4337/versionFacts.js'
import { encodeAnswer, encodeSignedFees, type PaymasterAnswer } from './paymasterData.js'

/**
 * The interface's receipt. The outer `logs` holds only the UserOperationEvent, `receipt.logs` all
 * logs of the transaction. `reason` is additive and only there after a failure.
 */
export function encodeClassicReceipt(receipt: OperationReceipt) {
  return {
    userOpHash: receipt.userOpHash,
    entryPoint: receipt.entryPoint,
    sender: receipt.sender,
    nonce: encodeNumber(receipt.nonce),
    success: String(receipt.success),
    paymaster: receipt.paymaster,
    actualGasCost: encodeNumber(receipt.actualGasCost),
    actualGasUsed: encodeNumber(receipt.actualGasUsed),
    ...(receipt.reason !== '0x' && { reason: receipt.reason }),
    ...(receipt.preconfirmed && { preconfirmed: true }),
    logs: [encodeLog(receipt.event)],
    receipt: encodeTransactionReceipt(receipt.receipt, receipt.confirmations),
  }
}

/** A transaction's receipt as ethers v5 gives it; `byzantium` says that the receipt has a status. */
function encodeTransactionReceipt(receipt: TransactionReceipt, confirmations: number) {
  return {
    to: receipt.to,
    from: receipt.from,
    contractAddress: receipt.contractAddress,
    transactionIndex: receipt.transactionIndex,
    gasUsed: encodeBigNumberFields(receipt.gasUsed),
    logsBloom: receipt.logsBloom,
    blockHash: receipt.blockHash,
    transactionHash: receipt.transactionHash,
    logs: encodeLogs(receipt),
    blockNumber: encodeNumber(receipt.blockNumber),
    confirmations,
    cumulativeGasUsed: encodeBigNumberFields(receipt.cumulativeGasUsed),
    effectiveGasPrice: encodeBigNumberFields(receipt.effectiveGasPrice),
    status: receipt.status,
    type: receipt.type,
    byzantium: true,
  }
}

/** All operations of a bundle share them, and each of their senders asks. */
const encodeLogs = remembered(({ logs }: TransactionReceipt) => logs.map(encodeLog))

function encodeLog(log: Log) {
  return {
    transactionIndex: log.transactionIndex,
    blockNumber: encodeNumber(log.blockNumber),
    transactionHash: log.transactionHash,
    address: log.address,
    topics: log.topics,
    data: log.data,
    logIndex: log.logIndex,
    blockHash: log.blockHash,
  }
}

/** A sponsorship or token payment: decimal text and numbers, paymasterAndData for every version. */
export function encodeClassicSponsorship(result: PaymasterAnswer) {
  return {
    ...encodeAnswer(result),
    paymasterAndData: result.paymasterAndData,
    ...encodePaymasterFields(result),
    preVerificationGas: result.operation.preVerificationGas.toString(),
    verificationGasLimit: encodeNumber(result.operation.verificationGasLimit),
    callGasLimit: encodeNumber(result.operation.callGasLimit),
    ...encodeSignedFees(result, String),
  }
}

/** The fields for clients of v0.7 and later, whose operations have no paymasterAndData. */
function encodePaymasterFields({ version, operation }: PaymasterAnswer) {
  return (
    !versionFacts[version].packsEntities &&
    operation.paymaster !== undefined && {
      paymaster: operation.paymaster,
      paymasterData: operation.paymasterData,
      paymasterVerificationGasLimit: encodeNumber(operation.paymasterVerificationGasLimit),
      paymasterPostOpGasLimit: encodeNumber(operation.paymasterPostOpGasLimit),
    }
  )
}

/** A JSON number where it is exact, else the exact hex string: never a rounded number. */
export function encodeNumber(value: bigint): number | Hex {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : numberToHex(value)
}

/** The digits of an ethers v5 BigNumber: whole bytes. */
function encodeWholeBytes(value: bigint): Hex {
  const digits = value.toString(16)
  return `0x${digits.padStart(digits.length + (digits.length % 2), '0')}`
}

/** An ethers v5 BigNumber as `JSON.stringify` of its fields gives it, in receipts. */
function encodeBigNumberFields(value: bigint) {
  return {
    _hex: encodeWholeBytes(value),
    _isBigNumber: true,
  }
}

/** An ethers v5 BigNumber as its own `toJSON` gives it, in estimates. */
export function encodeBigNumber(value: bigint) {
  return {
    type: 'BigNumber',
    hex: encodeWholeBytes(value),
  }
}
