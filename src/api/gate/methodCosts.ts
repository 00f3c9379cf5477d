import type { KeyScope } from '../../store/schema.js'
import type { MethodName } from '../rpc/signatures.js'

type MethodCost = {
  /** Units that a call takes from the buckets of its key and, with a sender, of its sender. */
  readonly cost: number
  /** What a key must be for. */
  readonly scope: KeyScope
  /** Runs an operation in an engine: bounded in number. */
  readonly simulates: boolean
}

const read: MethodCost = { cost: 1, scope: 'bundler', simulates: false }

/** What each method costs; one that every client asks first is open to every scope's key. */
export const methodCosts: { readonly [N in MethodName]: MethodCost } = {
  eth_chainId: read,
  eth_supportedEntryPoints: read,
  web3_clientVersion: read,
  eth_estimateUserOperationGas: { cost: 5, scope: 'bundler', simulates: true },
  eth_sendUserOperation: { cost: 5, scope: 'bundler', simulates: true },
  eth_getUserOperationReceipt: read,
  eth_getUserOperationByHash: read,
  biconomy_getGasFeeValues: read,
  biconomy_getUserOperationStatus: read,
  pm_sponsorUserOperation: { cost: 10, scope: 'paymaster', simulates: true },
  pm_getFeeQuoteOrData: { cost: 10, scope: 'paymaster', simulates: true },
  pm_getPaymasterStubData: { cost: 1, scope: 'paymaster', simulates: false },
  pm_getPaymasterData: { cost: 10, scope: 'paymaster', simulates: true },
  debug_bundler_clearState: read,
  debug_bundler_clearMempool: read,
  debug_bundler_clearReputation: read,
  debug_bundler_dumpMempool: read,
  debug_bundler_addUserOps: read,
  debug_bundler_sendBundleNow: read,
  debug_bundler_setBundlingMode: read,
  debug_bundler_setReputation: read,
  debug_bundler_dumpReputation: read,
  debug_bundler_getStakeStatus: read,
  pm_validateSponsorshipPolicies: { cost: 10, scope: 'paymaster', simulates: true },
}
