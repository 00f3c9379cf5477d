import { chainId } from './chainId.js'
import { clientVersion } from './clientVersion.js'
import { debugAddUserOps } from './debug/addUserOps.js'
import { debugClearMempool } from './debug/clearMempool.js'
import { debugClearReputation } from './debug/clearReputation.js'
import { debugClearState } from './debug/clearState.js'
import { debugDumpMempool } from './debug/dumpMempool.js'
import { debugDumpReputation } from './debug/dumpReputation.js'
import { debugGetStakeStatus } from './debug/getStakeStatus.js'
import { debugSendBundleNow } from './debug/sendBundleNow.js'
import { debugSetBundlingMode } from './debug/setBundlingMode.js'
import { debugSetReputation } from './debug/setReputation.js'
import { discover } from './discover.js'
import { estimateUserOperationGas } from './estimateUserOperationGas.js'
import { getFeeQuoteOrData } from './getFeeQuoteOrData.js'
import { getGasFeeValues } from './getGasFeeValues.js'
import { getPaymasterData } from './getPaymasterData.js'
import { getPaymasterStubData } from './getPaymasterStubData.js'
import { getUserOperationByHash } from './getUserOperationByHash.js'
import { getUserOperationReceipt } from './getUserOperationReceipt.js'
import { getUserOperationStatus } from './getUserOperationStatus.js'
import type { Method } from './method.js'
import { blockNumber } from './node/blockNumber.js'
import { feeHistory } from './node/feeHistory.js'
import { gasPrice } from './node/gasPrice.js'
import { getBalance } from './node/getBalance.js'
import { getBlockByNumber } from './node/getBlockByNumber.js'
import { getCode } from './node/getCode.js'
import { getLogs } from './node/getLogs.js'
import { getStorageAt } from './node/getStorageAt.js'
import { getTransactionByHash } from './node/getTransactionByHash.js'
import { getTransactionCount } from './node/getTransactionCount.js'
import { getTransactionReceipt } from './node/getTransactionReceipt.js'
import { maxPriorityFeePerGas } from './node/maxPriorityFeePerGas.js'
import { nodeCall } from './node/nodeCall.js'
import { sendUserOperation } from './sendUserOperation.js'
import { sponsorUserOperation } from './sponsorUserOperation.js'
import { supportedEntryPoints } from './supportedEntryPoints.js'
import { validateSponsorshipPolicies } from './validateSponsorshipPolicies.js'
import { alchemySponsor } from './vendors/alchemySponsor.js'
import { paymasterAccounts } from './vendors/paymasterAccounts.js'
import { pimlicoGasPrice } from './vendors/pimlicoGasPrice.js'
import { pimlicoStatus } from './vendors/pimlicoStatus.js'
import { pimlicoTokenQuotes } from './vendors/pimlicoTokenQuotes.js'
import { rundlerTip } from './vendors/rundlerTip.js'
import { skandhaGasPrice } from './vendors/skandhaGasPrice.js'
import { stackupTokenQuotes } from './vendors/stackupTokenQuotes.js'
import { thirdwebGasPrice } from './vendors/thirdwebGasPrice.js'
import { zeroDevGasPrice } from './vendors/zeroDevGasPrice.js'
import { zeroDevSponsor } from './vendors/zeroDevSponsor.js'

/** Every method, served alike on every path. */
export const methodList = [
  chainId,
  supportedEntryPoints,
  clientVersion,
  discover,
  estimateUserOperationGas,
  sendUserOperation,
  getUserOperationReceipt,
  getUserOperationByHash,
  getGasFeeValues,
  getUserOperationStatus,
  sponsorUserOperation,
  getFeeQuoteOrData,
  getPaymasterStubData,
  getPaymasterData,
  debugClearState,
  debugClearMempool,
  debugClearReputation,
  debugDumpMempool,
  debugAddUserOps,
  debugSendBundleNow,
  debugSetBundlingMode,
  debugSetReputation,
  debugDumpReputation,
  debugGetStakeStatus,
  validateSponsorshipPolicies,
  pimlicoGasPrice,
  pimlicoStatus,
  pimlicoTokenQuotes,
  zeroDevGasPrice,
  zeroDevSponsor,
  rundlerTip,
  alchemySponsor,
  thirdwebGasPrice,
  skandhaGasPrice,
  stackupTokenQuotes,
  paymasterAccounts,
  maxPriorityFeePerGas,
  gasPrice,
  feeHistory,
  blockNumber,
  getBlockByNumber,
  nodeCall,
  getCode,
  getBalance,
  getTransactionCount,
  getStorageAt,
  getTransactionReceipt,
  getTransactionByHash,
  getLogs,
] as const

type ListedMethod = (typeof methodList)[number]

type Signatures = {
  readonly [Each in ListedMethod as Each['name']]: {
    readonly params: ReturnType<Each['decode']>
    readonly result: Awaited<ReturnType<Each['run']>>
  }
}

export type MethodName = ListedMethod['name']
export type MethodParams<Name extends MethodName> = Signatures[Name]['params']
export type MethodResult<Name extends MethodName> = Signatures[Name]['result']

type MethodTable = {
  readonly [Name in MethodName]: Method<Name, MethodParams<Name>, MethodResult<Name>>
}

/** The methods by name. */
export const methods = Object.fromEntries(
  methodList.map((listed) => [listed.name, listed]),
) as unknown as MethodTable

export const methodNames: readonly MethodName[] = methodList.map(({ name }) => name)

/** Own names only: `constructor` is no method. */
export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methods, name)
}
