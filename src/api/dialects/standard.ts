import { getAddress, numberToHex } from 'viem/utils'
import { remembered } from '../../base/remembered.js'
import type { OperationReceipt } from '../../bundler/operationViews.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { Log } from '../../erc4337/entryPoint.js'
import { encodeLimits } from './operationFields.js'
import {
  encodeAnswer,
  encodeSignedFees,
  encodeSponsor,
  type PaymasterAnswer,
} from './paymasterData.js'

/** ERC-7769: the outer logs are all of the operation's own. */
export function encodeStandardReceipt(receipt: OperationReceipt) {
  return {
    userOpHash: receipt.userOpHash,
    entryPoint: getAddress(receipt.entryPoint),
    sender: receipt.sender,
    nonce: numberToHex(receipt.nonce),
    paymaster: receipt.paymaster,
    actualGasCost: numberToHex(receipt.actualGasCost),
    actualGasUsed: numberToHex(receipt.actualGasUsed),
    success: receipt.success,
    ...(receipt.reason !== '0x' && { reason: receipt.reason }),
    ...(receipt.preconfirmed && { preconfirmed: true }),
    logs: receipt.logs.map(encodeLog),
    receipt: encodeTransactionReceipt(receipt.receipt),
  }
}

/** All operations of a bundle share it, and each of their senders asks. */
const encodeTransactionReceipt = remembered((receipt: TransactionReceipt) => ({
  transactionHash: receipt.transactionHash,
  transactionIndex: numberToHex(receipt.transactionIndex),
  blockHash: receipt.blockHash,
  blockNumber: numberToHex(receipt.blockNumber),
  from: receipt.from,
  to: receipt.to,
  contractAddress: receipt.contractAddress,
  cumulativeGasUsed: numberToHex(receipt.cumulativeGasUsed),
  gasUsed: numberToHex(receipt.gasUsed),
  effectiveGasPrice: numberToHex(receipt.effectiveGasPrice),
  logs: receipt.logs.map(encodeLog),
  logsBloom: receipt.logsBloom,
  status: numberToHex(receipt.status),
  type: numberToHex(receipt.type),
}))

function encodeLog(log: Log) {
  return {
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: numberToHex(log.blockNumber),
    blockHash: log.blockHash,
    transactionHash: log.transactionHash,
    transactionIndex: numberToHex(log.transactionIndex),
    logIndex: numberToHex(log.logIndex),
    removed: false,
  }
}

/** A sponsorship or token payment: hex limits, the paymaster in the shape of the version. */
export function encodeStandardSponsorship(result: PaymasterAnswer) {
  return {
    ...encodeAnswer(result),
    paymasterAndData: result.paymasterAndData,
    ...encodeSponsor(result),
    ...encodeLimits(result.operation, numberToHex),
    ...encodeSignedFees(result, numberToHex),
  }
}
