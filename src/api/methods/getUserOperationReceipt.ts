import type { Method } from '../rpc/method.js'

/** undefined until included: clients poll, and an error would end their wait. */
export const getUserOperationReceipt: Method<'eth_getUserOperationReceipt'> = (
  { hash },
  { chain },
) => chain.receipt(hash)
