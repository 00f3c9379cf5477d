import { getAddress, numberToHex } from 'viem/utils'
import { z } from 'zod'
import { OperationNotFoundError } from '../../base/errors/operationErrors.js'
import type {
  OperationByHash,
  OperationReceipt,
  OperationStatus,
} from '../../bundler/operationViews.js'
import type { Version } from '../../erc4337/entryPoint.js'
import { encodeClassicReceipt, encodeNumber } from '../dialects/classic.js'
import { oneOf, optional, userOpHash } from '../dialects/decode/values.js'
import { encodeOperation } from '../dialects/operationFields.js'
import { encodeStandardReceipt } from '../dialects/standard.js'
import {
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_HASH,
  exampleBlock,
  exampleOperation,
  exampleReceipt,
  exampleTransaction,
} from './examples.js'
import {
  address,
  classicNumber,
  hexQuantity,
  operation,
  operationMembersOut,
  word,
} from '../openRpc/parts.js'
import { classicReceipt, standardReceipt, statusSchema } from '../openRpc/results.js'
import { method } from './method.js'

/**
 * No receipt is a result too: clients poll, and an error would end their wait. A preconfirmation is answered only on
 * request (`pending`): a client takes any receipt as final.
 */
export const getUserOperationReceipt = method({
  name: 'eth_getUserOperationReceipt',
  summary: 'The receipt of an included operation, else null.',
  scope: 'bundler',
  params: { userOpHash, tag: optional(oneOf('latest', 'pending'), 'latest') },
  run: async ({ userOpHash: hash, tag }, { chain }) =>
    (await chain.receipt(hash)) ?? (tag === 'pending' ? chain.preconfirmed(hash) : undefined),
  result: { classic: classicReceipt.nullable(), standard: standardReceipt.nullable() },
  encode: {
    classic: (receipt) => (receipt ? encodeClassicReceipt(receipt) : null),
    standard: (receipt) => (receipt ? encodeStandardReceipt(receipt) : null),
  },
  example: {
    params: [EXAMPLE_HASH],
    outcome: exampleReceipt,
  },
})

function blockOf(quantity: z.ZodType) {
  return {
    entryPoint: address,
    blockNumber: quantity.nullable(),
    blockHash: word.nullable(),
    transactionHash: word.nullable(),
  }
}

/** An operation with the version in whose shape it is written. */
type VersionedOperation = OperationByHash & { readonly version: Version }

export const getUserOperationByHash = method({
  name: 'eth_getUserOperationByHash',
  summary: 'An operation with the block that included it, else null.',
  scope: 'bundler',
  params: { userOpHash },
  // With the signature of a pending operation anybody can bundle it, or break it: only its app gets it.
  run: async ({ userOpHash: hash }, { chain, appId }): Promise<VersionedOperation | undefined> => {
    const known = await chain.byHash(hash)
    if (known === undefined) return undefined
    const entryPoint = chain.entryPoints.get(known.entryPoint)
    if (entryPoint === undefined)
      throw new Error(`operation ${hash} belongs to the unknown EntryPoint ${known.entryPoint}`)
    const { version } = entryPoint
    const isShown = known.blockHash !== undefined || known.appId === appId
    if (isShown) return { ...known, version }
    return { ...known, operation: { ...known.operation, signature: '0x' }, version }
  },
  result: {
    classic: z
      .object({ ...operationMembersOut, userOperation: operation, ...blockOf(classicNumber) })
      .nullable(),
    standard: z.object({ userOperation: operation, ...blockOf(hexQuantity) }).nullable(),
  },
  encode: {
    classic: (known) => (known ? encodeClassicOperation(known) : null),
    standard: (known) => (known ? encodeStandardOperation(known) : null),
  },
  example: {
    params: [EXAMPLE_HASH],
    outcome: {
      operation: exampleOperation,
      version: '0.7',
      entryPoint: EXAMPLE_ENTRY_POINT,
      blockNumber: 117n,
      blockHash: exampleBlock,
      transactionHash: exampleTransaction,
    },
  },
})

/** The operation's fields stand flat, as the SDKs declare them, and nested, as the ERC has them. */
function encodeClassicOperation(known: VersionedOperation) {
  const operation = encodeOperation(known.operation, known.version)
  return {
    ...operation,
    userOperation: operation,
    entryPoint: known.entryPoint,
    blockNumber: known.blockNumber === undefined ? null : encodeNumber(known.blockNumber),
    blockHash: known.blockHash ?? null,
    transactionHash: known.transactionHash ?? null,
  }
}

function encodeStandardOperation(known: VersionedOperation) {
  return {
    userOperation: encodeOperation(known.operation, known.version),
    entryPoint: getAddress(known.entryPoint),
    blockNumber: known.blockNumber === undefined ? null : numberToHex(known.blockNumber),
    blockHash: known.blockHash ?? null,
    transactionHash: known.transactionHash ?? null,
  }
}

/** The status of an operation, with its receipt as the dialect has it. */
function statusWith<Encoded>(encodeReceipt: (receipt: OperationReceipt) => Encoded) {
  return ({ state, message, transactionHash, receipt, preconfirmed }: OperationStatus) => ({
    state,
    ...(message !== undefined && { message }),
    ...(transactionHash !== undefined && { transactionHash }),
    ...(preconfirmed && { preconfirmed }),
    ...(receipt !== undefined && { userOperationReceipt: encodeReceipt(receipt) }),
  })
}

export const getUserOperationStatus = method({
  name: 'biconomy_getUserOperationStatus',
  summary: 'The state of an operation, with its receipt once it is included.',
  scope: 'bundler',
  params: { userOpHash },
  errors: [-32004],
  run: async ({ userOpHash: hash }, { chain }) => {
    const status = await chain.status(hash)
    if (status === undefined) throw new OperationNotFoundError(hash, chain.chainId)
    return status
  },
  result: { classic: statusSchema(classicReceipt), standard: statusSchema(standardReceipt) },
  encode: {
    classic: statusWith(encodeClassicReceipt),
    standard: statusWith(encodeStandardReceipt),
  },
  example: {
    params: [EXAMPLE_HASH],
    outcome: {
      state: 'DROPPED_FROM_BUNDLER_MEMPOOL',
      message: 'cancelled by the operator',
      transactionHash: undefined,
      receipt: undefined,
    },
  },
})
