import { hexToNumber } from 'viem'
import type { Log } from '../../../src/erc4337/entryPoint.js'
import type { Receipt } from './startAnvil.js'

/** A receipt's logs with their quantities decoded. */
export function logsOf(receipt: Receipt): Log[] {
  return receipt.logs.map((log) => ({
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: BigInt(log.blockNumber),
    blockHash: log.blockHash,
    transactionHash: log.transactionHash,
    transactionIndex: hexToNumber(log.transactionIndex),
    logIndex: hexToNumber(log.logIndex),
  }))
}
