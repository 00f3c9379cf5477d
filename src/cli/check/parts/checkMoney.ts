import type { Address } from 'viem'
import { formatEther } from 'viem/utils'
import { balanceAlert } from '../../../bundler/executorStatus.js'
import type { ChainDefinition } from '../../../chain/definition/chainDefinition.js'
import type { NodeClient } from '../../../chain/nodeClient.js'
import { getBalance, getCode } from '../../../chain/nodeReads.js'
import type { ExecutorSigner } from '../../../chain/signing/executorTransaction.js'
import type { Database } from '../../../db/database.js'
import { depositOf } from '../../../paymaster/entryPointDeposit.js'
import { listTanks } from '../../../paymaster/ledger/tanks.js'
import { boundsEachSender, loadPolicies } from '../../../paymaster/policy/policies.js'
import { type Finding, type Reporter, reporterOf } from '../finding.js'

type Accounts = {
  readonly executors: readonly ExecutorSigner[]
  readonly treasury: ExecutorSigner | undefined
}

/** Looks at the money of executors, treasury and tanks. */
export async function checkMoney(
  node: NodeClient,
  definition: ChainDefinition,
  { executors, treasury }: Accounts,
  database: Database | undefined,
): Promise<Finding[]> {
  const report = reporterOf('money', definition.chainId)
  const roles = [
    ...executors.map(({ address }) => ({ role: 'executor', address }) as const),
    ...(treasury ? [{ role: 'treasury', address: treasury.address } as const] : []),
  ]
  const findings = await Promise.all([
    ...roles.map((account) => checkAccount(node, definition, account, report)),
    checkBeneficiary(node, definition, report),
    database ? checkTanks(node, definition, database, report) : [],
  ])
  return findings.flat()
}

async function checkAccount(
  node: NodeClient,
  definition: ChainDefinition,
  { role, address }: { readonly role: 'executor' | 'treasury'; readonly address: Address },
  report: Reporter,
): Promise<Finding[]> {
  const [balance, code] = await Promise.all([getBalance(node, address), getCode(node, address)])
  const delegated = 'send it a transaction that sets its EIP-7702 delegation to the zero address'
  const withCode =
    code === '0x' || role === 'treasury'
      ? []
      : [
          report.fault(
            `${role} ${address} has code, and EntryPoint v0.9 takes no bundle of it`,
            delegated,
          ),
        ]
  const alert = balanceAlert(role, balance, definition)
  const amount = `${role} ${address} has ${formatEther(balance)} ${definition.nativeCoin}`
  if (alert === undefined) return [...withCode, report.ok(amount)]
  return [...withCode, report.fault(amount, `fund it: ${alert.replace(/: fund it$/, '')}`)]
}

/** An account that does not exist costs 25,000 gas more with the first payment, which nobody repays. */
async function checkBeneficiary(
  node: NodeClient,
  { beneficiary }: ChainDefinition,
  report: Reporter,
): Promise<Finding[]> {
  if (beneficiary === undefined || (await getBalance(node, beneficiary)) > 0n) return []
  const text = `beneficiary ${beneficiary} has no balance, so the first bundle pays for its creation: 25,000 gas, 183,600 by the rules of Amsterdam`
  return [report.warning(text, 'send it 1 wei')]
}

/** The most tanks that a check reads from the node. */
const MOST_TANKS = 200

async function checkTanks(
  node: NodeClient,
  { chainId }: ChainDefinition,
  database: Database,
  report: Reporter,
): Promise<Finding[]> {
  const tanks = (await listTanks(database, chainId)).slice(0, MOST_TANKS)
  const deposits = await Promise.all(
    tanks.map(({ entry_point: entryPoint, address }) => depositOf(node, entryPoint, address)),
  )
  const empty = tanks.filter((_, at) => deposits[at] === 0n)
  const filled = tanks.length - empty.length
  const apps = [...new Set(tanks.flatMap(({ app_id: appId }) => appId ?? []))]
  const policies = await Promise.all(apps.map((appId) => loadPolicies(database, appId)))
  const unbound = apps.filter((_, at) => !boundsEachSender(policies[at]!))
  return [
    ...(filled > 0 ? [report.ok(`${filled} tanks have a deposit`)] : []),
    ...empty.map(({ address, app_id: appId }) =>
      report.warning(
        `the tank ${address} of ${appId === null ? 'the operator' : `app ${appId}`} has no deposit and sponsors nothing`,
        'fund it with purser tank deposit',
      ),
    ),
    ...unbound.map((appId) =>
      report.warning(
        `app ${appId} has a tank, and its policies do not limit senders: anyone with its key can keep the tips that the tank pays`,
        'give its policies a budget per sender',
      ),
    ),
  ]
}
