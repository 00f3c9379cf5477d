import { devKey } from '../../../src/cli/devnet/devKeys.js'
import type { PublicChain } from '../chain/publicChain.js'
import type { TestDatabase } from '../database/database.js'
import { databaseUrlOf } from '../database/databaseUrl.js'

type Settings = Readonly<Record<string, unknown>> & { readonly facts?: object }

/** A chain as the configuration names it, its executor's key in `EXECUTOR`; `settings` in addition to or instead of these. */
export function servedChain(
  { chainId, rpcUrl }: Pick<PublicChain, 'chainId' | 'rpcUrl'>,
  settings: Settings = {},
): Settings {
  return {
    chainId,
    rpcUrls: [rpcUrl],
    executorKeys: ['env:EXECUTOR'],
    ...settings,
    facts: { pollInterval: 50, ...settings.facts },
  }
}

/** What an operator sets who serves these chains with one executor; `more` in addition to or instead of that. */
export function servedChains(
  chains: readonly Settings[],
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { EXECUTOR: devKey(1), PURSER_CHAINS: JSON.stringify(chains), ...more }
}

/** The same on a database of the test's own. */
export function servedOn(
  database: TestDatabase,
  chains: readonly Settings[],
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return servedChains(chains, { DATABASE_URL: databaseUrlOf(database), ...more })
}
