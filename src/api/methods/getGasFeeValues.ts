import type { Method } from '../rpc/method.js'

export const getGasFeeValues: Method<'biconomy_getGasFeeValues'> = (_, { chain, appId }) =>
  chain.fees(appId)
