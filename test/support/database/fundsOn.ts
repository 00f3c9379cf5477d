import type { Database } from '../../../src/db/database.js'
import { changeFund, creditFund, readFunds } from '../../../src/paymaster/funds.js'
import type { FundMode } from '../../../src/paymaster/ledger/funds.js'
import { audited } from '../../../src/tenants/audit.js'
import { testActor } from '../actor.js'

/** The funds of apps on a chain, as the administration changes them. */
export function fundsOn(database: Database, chainId: number) {
  const change = (appId: string, columns: Parameters<typeof changeFund>[3]) =>
    audited(database, testActor, (audit) => changeFund(audit, appId, chainId, columns))
  return {
    show: (appId: string) => readFunds(database, appId, chainId),
    setMode: (appId: string, mode: FundMode) => change(appId, { mode }),
    setAlert: (appId: string, { wei, days }: { readonly wei?: bigint; readonly days?: number }) =>
      change(appId, { alertWei: wei, alertDays: days }),
    credit: (appId: string, wei: bigint, reference: string) =>
      audited(database, testActor, async (audit) => {
        await creditFund(audit, appId, chainId, { wei, reference })
        return readFunds(audit.trx, appId, chainId)
      }),
  }
}
