import type { Method } from '../rpc/method.js'

export const chainId: Method<'eth_chainId'> = async (_, { chain }) => chain.chainId
