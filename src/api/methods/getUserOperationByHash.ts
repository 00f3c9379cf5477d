import { getAddress, numberToHex } from 'viem/utils'
import type { OperationByHash } from '../../bundling/operationViews.js'
import type { Version } from '../../entrypoint/entryPoint.js'
import { encodeNumber } from '../dialects/classic/numbers.js'
import { decodeHashParams } from '../dialects/decode/hashParams.js'
import { encodeOperation } from '../dialects/operationFields.js'
import { exampleBlock, exampleTransaction } from './examples/exampleReceipt.js'
import {
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_HASH,
  exampleOperation,
  exampleOperationJson,
} from './examples/examples.js'
import { method } from './method.js'

/** An operation with the version in whose shape it is written. */
type VersionedOperation = OperationByHash & { readonly version: Version }

export const getUserOperationByHash = method({
  name: 'eth_getUserOperationByHash',
  summary: 'An operation with the block that included it, else null.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: ['userOpHash'],
  errors: [],
  decode: decodeHashParams,
  run: async ({ hash }, { chain }): Promise<VersionedOperation | undefined> => {
    const known = await chain.byHash(hash)
    if (known === undefined) return undefined
    const entryPoint = chain.entryPoints.get(known.entryPoint)
    if (entryPoint === undefined)
      throw new Error(`operation ${hash} belongs to the unknown EntryPoint ${known.entryPoint}`)
    return { ...known, version: entryPoint.version }
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
    result: {
      classic: {
        ...exampleOperationJson,
        userOperation: exampleOperationJson,
        entryPoint: EXAMPLE_ENTRY_POINT,
        blockNumber: 117,
        blockHash: exampleBlock,
        transactionHash: exampleTransaction,
      },
      standard: {
        userOperation: exampleOperationJson,
        entryPoint: '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
        blockNumber: '0x75',
        blockHash: exampleBlock,
        transactionHash: exampleTransaction,
      },
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
