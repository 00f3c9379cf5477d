import type { Hex } from 'viem'
import type { OperationReceipt } from '../../../bundling/operationViews.js'
import type { Log } from '../../../entrypoint/entryPoint.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_HASH, exampleOperation } from './examples.js'

export const exampleTransaction: Hex = `0x${'7e'.repeat(32)}`
export const exampleBlock: Hex = `0x${'b1'.repeat(32)}`

const EXECUTOR = '0xe0ec00000000000000000000000000000000e0ec'
const NO_PAYMASTER = '0x0000000000000000000000000000000000000000'
const NO_BLOOM: Hex = `0x${'00'.repeat(256)}`

const event: Log = {
  address: EXAMPLE_ENTRY_POINT,
  topics: [
    '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f',
    EXAMPLE_HASH,
    `0x${'00'.repeat(12)}${exampleOperation.sender.slice(2)}`,
    `0x${'00'.repeat(32)}`,
  ],
  data: '0x',
  blockNumber: 117n,
  blockHash: exampleBlock,
  transactionHash: exampleTransaction,
  transactionIndex: 3,
  logIndex: 8,
}

/** The receipt of the example's operation, included alone and paid by its account. */
export const exampleReceipt: OperationReceipt = {
  userOpHash: EXAMPLE_HASH,
  sender: exampleOperation.sender,
  nonce: 5n,
  paymaster: NO_PAYMASTER,
  success: true,
  actualGasCost: 91_000_000_000_000n,
  actualGasUsed: 91_000n,
  reason: '0x',
  event,
  logs: [event],
  entryPoint: EXAMPLE_ENTRY_POINT,
  confirmations: 3,
  receipt: {
    transactionHash: exampleTransaction,
    transactionIndex: 3,
    blockHash: exampleBlock,
    blockNumber: 117n,
    from: EXECUTOR,
    to: EXAMPLE_ENTRY_POINT,
    contractAddress: null,
    cumulativeGasUsed: 410_000n,
    gasUsed: 112_000n,
    effectiveGasPrice: 1_000_000_000n,
    logs: [event],
    logsBloom: NO_BLOOM,
    status: 1,
    type: 2,
  },
}

const classicLog = { ...event, blockNumber: 117 }

export const exampleClassicReceipt = {
  userOpHash: EXAMPLE_HASH,
  entryPoint: EXAMPLE_ENTRY_POINT,
  sender: exampleOperation.sender,
  nonce: 5,
  success: 'true',
  paymaster: NO_PAYMASTER,
  actualGasCost: 91_000_000_000_000,
  actualGasUsed: 91_000,
  logs: [classicLog],
  receipt: {
    to: EXAMPLE_ENTRY_POINT,
    from: EXECUTOR,
    contractAddress: null,
    transactionIndex: 3,
    gasUsed: { _hex: '0x01b580', _isBigNumber: true },
    logsBloom: NO_BLOOM,
    blockHash: exampleBlock,
    transactionHash: exampleTransaction,
    logs: [classicLog],
    blockNumber: 117,
    confirmations: 3,
    cumulativeGasUsed: { _hex: '0x064190', _isBigNumber: true },
    effectiveGasPrice: { _hex: '0x3b9aca00', _isBigNumber: true },
    status: 1,
    type: 2,
    byzantium: true,
  },
}

const standardLog = {
  ...event,
  blockNumber: '0x75',
  transactionIndex: '0x3',
  logIndex: '0x8',
  removed: false,
}

export const exampleStandardReceipt = {
  userOpHash: EXAMPLE_HASH,
  entryPoint: '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
  sender: exampleOperation.sender,
  nonce: '0x5',
  paymaster: NO_PAYMASTER,
  actualGasCost: '0x52c396acb000',
  actualGasUsed: '0x16378',
  success: true,
  logs: [standardLog],
  receipt: {
    transactionHash: exampleTransaction,
    transactionIndex: '0x3',
    blockHash: exampleBlock,
    blockNumber: '0x75',
    from: EXECUTOR,
    to: EXAMPLE_ENTRY_POINT,
    contractAddress: null,
    cumulativeGasUsed: '0x64190',
    gasUsed: '0x1b580',
    effectiveGasPrice: '0x3b9aca00',
    logs: [standardLog],
    logsBloom: NO_BLOOM,
    status: '0x1',
    type: '0x2',
  },
}
