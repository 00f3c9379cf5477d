import { debugBundler } from './debugBundler.js'
import { estimateUserOperationGas } from './estimateUserOperationGas.js'
import { gasPrices } from './gasPrices.js'
import { getFeeQuoteOrData } from './getFeeQuoteOrData.js'
import { getPaymasterData, getPaymasterStubData } from './getPaymasterData.js'
import {
  getUserOperationByHash,
  getUserOperationReceipt,
  getUserOperationStatus,
} from './getUserOperation.js'
import type { Method } from './method.js'
import { nodeReads } from './nodeReads.js'
import { sendUserOperation } from './sendUserOperation.js'
import { sendUserOperationSync } from './sendUserOperationSync.js'
import { serviceReads } from './serviceReads.js'
import { sponsorUserOperation } from './sponsorUserOperation.js'
import { subscribe, unsubscribe } from './subscribe.js'
import { validateSponsorshipPolicies } from './validateSponsorshipPolicies.js'
import { alchemySponsor } from './vendors/alchemy.js'
import { alchemyAssetChanges, pimlicoAssetChanges } from './vendors/assetChanges.js'
import { candideTokens } from './vendors/candide.js'
import { pimlicoStatus, pimlicoTokenQuotes } from './vendors/pimlico.js'
import { paymasterAccounts, stackupTokenQuotes } from './vendors/stackup.js'
import { zeroDevSponsor } from './vendors/zeroDev.js'

const methodList = [
  ...serviceReads,
  estimateUserOperationGas,
  sendUserOperation,
  sendUserOperationSync,
  subscribe,
  unsubscribe,
  getUserOperationReceipt,
  getUserOperationByHash,
  getUserOperationStatus,
  ...gasPrices,
  sponsorUserOperation,
  getFeeQuoteOrData,
  getPaymasterStubData,
  getPaymasterData,
  validateSponsorshipPolicies,
  pimlicoStatus,
  pimlicoTokenQuotes,
  pimlicoAssetChanges,
  zeroDevSponsor,
  alchemySponsor,
  alchemyAssetChanges,
  stackupTokenQuotes,
  paymasterAccounts,
  candideTokens,
  ...nodeReads,
  ...debugBundler,
] as const

type ListedMethod = (typeof methodList)[number]

type Signatures = {
  readonly [Each in ListedMethod as Each['name']]: {
    readonly params: ReturnType<Each['decode']>
    readonly result: Awaited<ReturnType<Each['run']>>
  }
}

export type MethodName = ListedMethod['name']

type MethodTable = {
  readonly [Name in MethodName]: Method<
    Name,
    Signatures[Name]['params'],
    Signatures[Name]['result']
  >
}

/** Every method by name, served alike on every path. */
export const methods = Object.fromEntries(
  methodList.map((listed) => [listed.name, listed]),
) as unknown as MethodTable

/** In the order of the documents: those to which a key may be limited. */
export const methodNames: readonly MethodName[] = methodList.map(({ name }) => name)

/** Own names only: `constructor` is no method. */
export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methods, name)
}
