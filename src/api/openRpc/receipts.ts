import { z } from 'zod'
import { address, bytes, classicNumber, hexQuantity, word } from './parts.js'

const bigNumberFields = z.object({ _hex: bytes, _isBigNumber: z.literal(true) })

const logMembers = {
  address,
  topics: z.array(word),
  data: bytes,
  blockHash: word,
  transactionHash: word,
}

const classicLog = z
  .object({
    ...logMembers,
    blockNumber: classicNumber,
    transactionIndex: z.int(),
    logIndex: z.int(),
  })
  .meta({ id: 'ClassicLog' })

const standardLog = z
  .object({
    ...logMembers,
    blockNumber: hexQuantity,
    transactionIndex: hexQuantity,
    logIndex: hexQuantity,
    removed: z.literal(false),
  })
  .meta({ id: 'Log' })

const transactionMembers = {
  to: address.nullable(),
  from: address,
  contractAddress: address.nullable(),
  logsBloom: bytes,
  blockHash: word,
  transactionHash: word,
}

/** A transaction's receipt as ethers v5 gives it. */
const classicTransaction = z.object({
  ...transactionMembers,
  transactionIndex: z.int(),
  gasUsed: bigNumberFields,
  cumulativeGasUsed: bigNumberFields,
  effectiveGasPrice: bigNumberFields,
  logs: z.array(classicLog),
  blockNumber: classicNumber,
  confirmations: z.int(),
  status: z.int(),
  type: z.int(),
  byzantium: z.literal(true),
})

const standardTransaction = z.object({
  ...transactionMembers,
  transactionIndex: hexQuantity,
  gasUsed: hexQuantity,
  cumulativeGasUsed: hexQuantity,
  effectiveGasPrice: hexQuantity,
  logs: z.array(standardLog),
  blockNumber: hexQuantity,
  status: hexQuantity,
  type: hexQuantity,
})

const receiptMembers = {
  userOpHash: word,
  entryPoint: address,
  sender: address,
  paymaster: address,
  /** The revert data of a call that failed. */
  reason: bytes.optional(),
  /** Promised by the sequencer, in no block yet. */
  preconfirmed: z.literal(true).optional(),
}

export const classicReceipt = z
  .object({
    ...receiptMembers,
    nonce: classicNumber,
    success: z.enum(['true', 'false']),
    actualGasCost: classicNumber,
    actualGasUsed: classicNumber,
    logs: z.array(classicLog),
    receipt: classicTransaction,
  })
  .meta({ id: 'ClassicReceipt' })

export const standardReceipt = z
  .object({
    ...receiptMembers,
    nonce: hexQuantity,
    success: z.boolean(),
    actualGasCost: hexQuantity,
    actualGasUsed: hexQuantity,
    logs: z.array(standardLog),
    receipt: standardTransaction,
  })
  .meta({ id: 'Receipt' })

const states = z.enum([
  'BUNDLER_MEMPOOL',
  'SUBMITTED',
  'CONFIRMED',
  'FAILED',
  'DROPPED_FROM_BUNDLER_MEMPOOL',
])

export function statusWith<Receipt extends z.ZodType>(receipt: Receipt) {
  return z.object({
    state: states,
    message: z.string().optional(),
    transactionHash: word.optional(),
    preconfirmed: z.literal(true).optional(),
    userOperationReceipt: receipt.optional(),
  })
}
