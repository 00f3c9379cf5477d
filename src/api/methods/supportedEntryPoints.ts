import type { Method } from '../rpc/method.js'

/** The preferred EntryPoint first (ERC-7769). */
export const supportedEntryPoints: Method<'eth_supportedEntryPoints'> = async (_, { chain }) => [
  ...chain.entryPoints.keys(),
]
