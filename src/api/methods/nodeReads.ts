import { numberToHex } from 'viem/utils'
import { z } from 'zod'
import { InvalidParamsError, MethodNotFoundError } from '../../base/errors/requestErrors.js'
import type { ClientReads, ReadMethod } from '../../chain/clientReads.js'
import {
  block,
  blockNumber,
  boundLogFilter,
  logFilter,
  nodeCall,
  signedTransaction,
} from '../dialects/decode/nodeParams.js'
import { stateOverride } from '../dialects/decode/stateOverride.js'
import {
  address,
  decodeInteger,
  flag,
  type Input,
  listOf,
  optional,
  shortWord,
  word,
} from '../dialects/decode/values.js'
import type { ChainServices } from '../services.js'
import { EXAMPLE_TANK, EXAMPLE_SIGNED, exampleTransaction } from './examples.js'
import { method } from './method.js'

type NodeRead<Name extends ReadMethod> = {
  readonly name: Name
  readonly summary: string
  /** Absent = 1. */
  readonly cost?: number
  /** Whether the call may revert; absent = no. */
  readonly reverts?: true
  /** Parameters, decoded as the node gets them: nothing that a client wrote goes on undecoded. */
  readonly params?: Readonly<Record<string, Input<unknown>>>
  readonly example: { readonly params: readonly unknown[]; readonly outcome: unknown }
}

/** A read that the chain's node answers. Both dialects answer what the node does. */
function nodeRead<const Name extends ReadMethod>({ reverts, ...spec }: NodeRead<Name>) {
  return method({
    ...spec,
    scope: 'node',
    errors: reverts ? [3, -32000] : [-32000],
    run: async (params, { chain, appId }): Promise<unknown> => {
      const reads = readsOf(chain)
      if (spec.name === 'eth_estimateGas' && !reads.estimatesGas)
        throw new MethodNotFoundError(
          spec.name,
          [],
          ' is for transactions. Ask eth_estimateUserOperationGas; the operator allows it with estimateGas.',
        )
      const forwarded = Object.values(params).filter((value) => value !== undefined)
      return reads.read(appId, spec.name, forwarded)
    },
    result: z.unknown(),
  })
}

/** Throws MethodNotFoundError where the operator forbids reads. */
export function readsOf({ reads }: Pick<ChainServices, 'reads'>): ClientReads {
  if (reads === undefined) throw new MethodNotFoundError('of the node')
  return reads
}

const ofAccount = { address, block }
const accountParams = [EXAMPLE_TANK, 'latest'] as const
const callParams = [{ to: EXAMPLE_TANK, data: '0xd087d288' }, 'latest'] as const
const ZERO_WORD = `0x${'00'.repeat(32)}`
const ofTransaction = {
  params: { transactionHash: word },
  example: { params: [exampleTransaction], outcome: null },
}

const MAX_BLOCKS = 128
const MAX_PERCENTILES = 20

const blockCount: Input<string> = {
  json: z.union([
    z.int().min(1).max(MAX_BLOCKS),
    z.string().regex(/^0x([1-9a-f]|[1-7][0-9a-f]|80)$/),
  ]),
  decode: (value, field) => numberToHex(decodeInteger(value, field, { min: 1, max: MAX_BLOCKS })),
}

const percentile: Input<number> = {
  json: z.number().min(0).max(100),
  decode: (value, field) => {
    if (typeof value === 'number' && value >= 0 && value <= 100) return value
    throw new InvalidParamsError(field, 'must be a number from 0 to 100.')
  },
}

/** Unlike others, this block must be named. */
const namedBlock: Input<string> = {
  json: blockNumber.json,
  decode: (value, field, chain) => {
    if (value === undefined) throw new InvalidParamsError(field, 'is missing.')
    return blockNumber.decode(value, field, chain)
  },
}

/** Reads of the chain's node, for clients that have one URL only. */
export const nodeReads = [
  nodeRead({
    name: 'eth_feeHistory',
    summary: 'Base fees and tips of the last blocks.',
    cost: 2,
    params: {
      blockCount,
      newestBlock: blockNumber,
      percentiles: optional(listOf(percentile, MAX_PERCENTILES), []),
    },
    example: {
      params: ['0x1', 'latest', [50]],
      outcome: {
        oldestBlock: '0x75',
        baseFeePerGas: ['0x7', '0x7'],
        gasUsedRatio: [0],
        reward: [['0x0']],
      },
    },
  }),
  nodeRead({
    name: 'eth_blockNumber',
    summary: 'The number of the newest block.',
    example: { params: [], outcome: '0x75' },
  }),
  nodeRead({
    name: 'eth_getBlockByNumber',
    summary: 'A block, with its transactions whole or as hashes.',
    cost: 2,
    params: { block: namedBlock, whole: optional(flag, false) },
    example: { params: ['0x75', false], outcome: { number: '0x75', transactions: [] } },
  }),
  // With as much gas as a transaction may have, and as much overridden state as an estimate takes.
  nodeRead({
    name: 'eth_call',
    summary: 'What a call would return now.',
    cost: 5,
    params: { call: nodeCall, block, stateOverride },
    reverts: true,
    example: { params: callParams, outcome: ZERO_WORD },
  }),
  nodeRead({
    name: 'eth_estimateGas',
    summary: 'Gas of an ordinary transaction, where the operator allows it.',
    cost: 10,
    params: { call: nodeCall, block },
    reverts: true,
    example: { params: callParams, outcome: '0x5ad8' },
  }),
  method({
    name: 'eth_sendRawTransaction',
    summary: 'Sends a signed transaction that is no operation, where the operator allows it.',
    scope: 'node',
    cost: 10,
    params: { transaction: signedTransaction },
    errors: [-32000],
    run: async ({ transaction }, { chain, appId }) => {
      const { send } = readsOf(chain)
      if (send !== undefined) return send(appId, transaction)
      throw new MethodNotFoundError(
        'eth_sendRawTransaction',
        [],
        ' is for transactions. Send operations by eth_sendUserOperation; the operator allows it with sendRawTransaction.',
      )
    },
    result: word.json,
    example: { params: [EXAMPLE_SIGNED], outcome: exampleTransaction },
  }),
  nodeRead({
    name: 'eth_getCode',
    summary: 'The code of an account.',
    params: ofAccount,
    example: { params: accountParams, outcome: '0x6080' },
  }),
  nodeRead({
    name: 'eth_getBalance',
    summary: 'The balance of an account, in wei.',
    params: ofAccount,
    example: { params: accountParams, outcome: '0xde0b6b3a7640000' },
  }),
  nodeRead({
    name: 'eth_getTransactionCount',
    summary: 'The next nonce of an account outside of the EntryPoint.',
    params: ofAccount,
    example: { params: accountParams, outcome: '0x1' },
  }),
  nodeRead({
    name: 'eth_getStorageAt',
    summary: 'A storage slot of an account.',
    params: { address, slot: shortWord, block },
    example: { params: [EXAMPLE_TANK, '0x0', 'latest'], outcome: ZERO_WORD },
  }),
  nodeRead({
    name: 'eth_getTransactionReceipt',
    summary: 'The receipt of a transaction.',
    ...ofTransaction,
  }),
  nodeRead({ name: 'eth_getTransactionByHash', summary: 'A transaction.', ...ofTransaction }),
  method({
    name: 'eth_getLogs',
    summary: 'Logs of the given contracts, over a bounded range of blocks.',
    scope: 'node',
    cost: 10,
    params: { filter: logFilter },
    errors: [-32000],
    run: async ({ filter }, { chain, appId }) => {
      const reads = readsOf(chain)
      const { logRange } = reads
      const bounded = boundLogFilter(filter, { head: reads.head(), logRange })
      return reads.read(appId, 'eth_getLogs', [bounded])
    },
    result: z.unknown(),
    example: {
      params: [{ address: EXAMPLE_TANK, fromBlock: '0x1', toBlock: '0x75' }],
      outcome: [],
    },
  }),
] as const
