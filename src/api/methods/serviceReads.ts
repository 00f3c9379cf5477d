import { getAddress, numberToHex } from 'viem/utils'
import { z } from 'zod'
import { address, decimal, hexQuantity } from '../openRpc/parts.js'
import { EXAMPLE_CHAIN_ID, EXAMPLE_ENTRY_POINT } from './examples.js'
import { method } from './method.js'

function chainIdRead<const Name extends string>(name: Name) {
  return method({
    name,
    summary: 'The chain of the URL.',
    scope: 'common',
    run: async (_, { chain }) => chain.chainId,
    result: hexQuantity,
    encode: (id) => numberToHex(id),
    example: { params: [], outcome: EXAMPLE_CHAIN_ID },
  })
}

function entryPointsRead<const Name extends string>(name: Name) {
  return method({
    name,
    summary: 'The EntryPoints of the chain, the preferred one first.',
    scope: 'common',
    // ERC-7769: the preferred one comes first.
    run: async (_, { chain }) => [...chain.entryPoints.keys()],
    result: z.array(address),
    encode: (addresses) => addresses.map((each) => getAddress(each)),
    example: { params: [], outcome: [EXAMPLE_ENTRY_POINT] },
  })
}

const openrpc = { openrpc: '1.3.2' }

/** The facts of the URL and of the service that every client asks first, with every key. */
export const serviceReads = [
  chainIdRead('eth_chainId'),
  entryPointsRead('eth_supportedEntryPoints'),
  // Candide's paymaster client asks them of the paymaster.
  chainIdRead('pm_chainId'),
  entryPointsRead('pm_supportedEntryPoints'),
  method({
    name: 'net_version',
    summary: 'The chain of the URL, in decimal.',
    scope: 'common',
    run: async (_, { chain }) => chain.chainId.toString(),
    result: decimal,
    example: { params: [], outcome: EXAMPLE_CHAIN_ID.toString() },
  }),
  method({
    name: 'web3_clientVersion',
    summary: 'The name and version of the service.',
    scope: 'common',
    run: async (_, { clientVersion }) => clientVersion,
    result: z.string(),
    example: { params: [], outcome: 'purser/1.2.3' },
  }),
  // The document is made of all methods, this one too, so it comes from the context.
  method({
    name: 'rpc.discover',
    summary: 'The OpenRPC document of the dialect.',
    scope: 'common',
    // Writing 110 kB takes longer than any other answer, and a batch is written in one go.
    cost: 1_000,
    run: async (_, { documents }) => documents,
    result: z.looseObject({ openrpc: z.string() }),
    encode: { classic: ({ classic }) => classic, standard: ({ standard }) => standard },
    example: { params: [], outcome: { classic: openrpc, standard: openrpc } },
  }),
] as const
