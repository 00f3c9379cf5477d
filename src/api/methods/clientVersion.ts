import type { Method } from '../rpc/method.js'

export const clientVersion: Method<'web3_clientVersion'> = async (_, context) =>
  context.clientVersion
