import { remembered } from '../../../base/remembered.js'
import type { OperationReceipt, OperationStatus } from '../../../bundling/operationViews.js'
import type { TransactionReceipt } from '../../../chain/transactionReceipt.js'
import type { Log } from '../../../entrypoint/entryPoint.js'
import { encodeBigNumberFields, encodeNumber } from './numbers.js'

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

export function encodeClassicStatus({
  state,
  message,
  transactionHash,
  receipt,
  preconfirmed,
}: OperationStatus) {
  return {
    state,
    ...(message !== undefined && { message }),
    ...(transactionHash !== undefined && { transactionHash }),
    ...(preconfirmed && { preconfirmed }),
    ...(receipt !== undefined && { userOperationReceipt: encodeClassicReceipt(receipt) }),
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
