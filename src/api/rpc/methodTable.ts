import { chainId } from '../methods/chainId.js'
import { clientVersion } from '../methods/clientVersion.js'
import {
  debugAddUserOps,
  debugClearMempool,
  debugClearReputation,
  debugClearState,
  debugDumpMempool,
  debugDumpReputation,
  debugGetStakeStatus,
  debugSendBundleNow,
  debugSetBundlingMode,
  debugSetReputation,
} from '../methods/debugBundler.js'
import { estimateUserOperationGas } from '../methods/estimateUserOperationGas.js'
import { getFeeQuoteOrData } from '../methods/getFeeQuoteOrData.js'
import { getGasFeeValues } from '../methods/getGasFeeValues.js'
import { getPaymasterStubData } from '../methods/getPaymasterStubData.js'
import { getUserOperationByHash } from '../methods/getUserOperationByHash.js'
import { getUserOperationReceipt } from '../methods/getUserOperationReceipt.js'
import { getUserOperationStatus } from '../methods/getUserOperationStatus.js'
import { sendUserOperation } from '../methods/sendUserOperation.js'
import { sponsorUserOperation } from '../methods/sponsorUserOperation.js'
import { supportedEntryPoints } from '../methods/supportedEntryPoints.js'
import { validateSponsorshipPolicies } from '../methods/validateSponsorshipPolicies.js'
import type { Method } from './method.js'
import type { MethodName } from './signatures.js'

/** Every method, served alike on every path. */
export const methodTable: { readonly [N in MethodName]: Method<N> } = {
  eth_chainId: chainId,
  eth_supportedEntryPoints: supportedEntryPoints,
  web3_clientVersion: clientVersion,
  eth_estimateUserOperationGas: estimateUserOperationGas,
  eth_sendUserOperation: sendUserOperation,
  eth_getUserOperationReceipt: getUserOperationReceipt,
  eth_getUserOperationByHash: getUserOperationByHash,
  biconomy_getGasFeeValues: getGasFeeValues,
  biconomy_getUserOperationStatus: getUserOperationStatus,
  pm_sponsorUserOperation: sponsorUserOperation,
  pm_getFeeQuoteOrData: getFeeQuoteOrData,
  pm_getPaymasterStubData: getPaymasterStubData,
  pm_getPaymasterData: sponsorUserOperation,
  debug_bundler_clearState: debugClearState,
  debug_bundler_clearMempool: debugClearMempool,
  debug_bundler_clearReputation: debugClearReputation,
  debug_bundler_dumpMempool: debugDumpMempool,
  debug_bundler_addUserOps: debugAddUserOps,
  debug_bundler_sendBundleNow: debugSendBundleNow,
  debug_bundler_setBundlingMode: debugSetBundlingMode,
  debug_bundler_setReputation: debugSetReputation,
  debug_bundler_dumpReputation: debugDumpReputation,
  debug_bundler_getStakeStatus: debugGetStakeStatus,
  pm_validateSponsorshipPolicies: validateSponsorshipPolicies,
}

/** Own names only: `constructor` is no method. */
export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methodTable, name)
}
