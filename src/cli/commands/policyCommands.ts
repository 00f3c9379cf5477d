import type { Command } from 'commander'
import { ConfigError } from '../../errors/configError.js'
import { createPolicies, type PolicyView } from '../../policy/managePolicies.js'
import type { Database } from '../../store/database.js'
import { findAccount } from '../../store/tenants/accounts.js'
import { audited } from '../../store/tenants/audit.js'
import { commandActor } from '../commandActor.js'
import { type Flags, onStore } from '../onStore.js'
import { printTable } from '../printTable.js'
import { readPolicyFile } from '../readPolicyFile.js'
import { requireApp } from './accountCommands.js'
import { definePolicyTrialCommands } from './policyTrialCommands.js'

/** The account whose policies are meant, and the app that they bind; null = all apps of the account. */
type PolicyOwner = { readonly accountId: string; readonly appId: string | null }

async function ownerOf(database: Database, { app, account }: Flags): Promise<PolicyOwner> {
  if ((app === undefined) === (account === undefined))
    throw new ConfigError('Give either --app, or --account for policies of all its apps.')
  if (app !== undefined) {
    const { id, accountId } = await requireApp(database, app)
    return { accountId, appId: id }
  }
  const known = await findAccount(database, account ?? '')
  if (known === undefined || known.revokedAt !== null)
    throw new ConfigError(`There is no live account ${account}; see \`purser account list\`.`)
  return { accountId: known.id, appId: null }
}

function print(policy: PolicyView): void {
  console.log(JSON.stringify(policy, null, 2))
}

function entryOf({ accountId }: PolicyOwner, { policyId, appId }: PolicyView) {
  return { objectId: policyId, accountId, appId }
}

/** `purser policy list|show|create|edit|delete|check|try` */
export function definePolicyCommand(policy: Command): void {
  const ofOwner = (command: Command) =>
    command
      .option('--app <id>', 'policies of this app')
      .option('--account <id>', 'policies of this account, which bind all its apps')
  const file = '--file <path>'
  definePolicyTrialCommands(policy)

  onStore(
    ofOwner(policy.command('list').description('in the order in which they are asked')),
    async ({ store: { database }, flags }) => {
      const { accountId, appId } = await ownerOf(database, flags)
      const policies = await createPolicies(database).list(accountId, appId)
      printTable(
        policies.map(({ policyId, name, active, position, updatedAt }) => ({
          policyId,
          name,
          active,
          position,
          updatedAt,
        })),
      )
    },
  )
  onStore(
    ofOwner(policy.command('show').argument('<id>').description('one policy with its terms')),
    async ({ store: { database }, flags, id }) => {
      const { accountId } = await ownerOf(database, flags)
      print(await createPolicies(database).get(accountId, id))
    },
  )
  onStore(
    ofOwner(
      policy
        .command('create')
        .description('make a policy from a file')
        .requiredOption(file, 'JSON or YAML with name and terms, maybe active and position'),
    ),
    async ({ store: { database }, flags }) => {
      const owner = await ownerOf(database, flags)
      const input = { ...readPolicyFile(flags.file), appId: owner.appId }
      for (const member of ['name', 'terms'])
        if (!Object.hasOwn(input, member))
          throw new ConfigError(`--file: ${flags.file} lacks "${member}".`)
      const made = await audited(database, commandActor(), async ({ trx, record }) => {
        const after = await createPolicies(trx).create(owner.accountId, input)
        await record({ action: 'policy.create', ...entryOf(owner, after), after })
        return after
      })
      print(made)
    },
  )
  onStore(
    ofOwner(
      policy
        .command('edit')
        .argument('<id>')
        .description('change the members that a file has; terms are replaced whole')
        .requiredOption(file, 'JSON or YAML with name, active, position or terms'),
    ),
    async ({ store: { database }, flags, id }) => {
      const owner = await ownerOf(database, flags)
      const input = readPolicyFile(flags.file)
      const changed = await audited(database, commandActor(), async ({ trx, record }) => {
        const policies = createPolicies(trx)
        const before = await policies.get(owner.accountId, id)
        const after = await policies.update(owner.accountId, id, input)
        await record({ action: 'policy.update', ...entryOf(owner, after), before, after })
        return after
      })
      print(changed)
    },
  )
  onStore(
    ofOwner(policy.command('delete').argument('<id>').description('with its counters')),
    async ({ store: { database }, flags, id }) => {
      const owner = await ownerOf(database, flags)
      await audited(database, commandActor(), async ({ trx, record }) => {
        const policies = createPolicies(trx)
        const before = await policies.get(owner.accountId, id)
        await policies.remove(owner.accountId, id)
        await record({ action: 'policy.delete', ...entryOf(owner, before), before })
      })
      console.log(`Deleted policy ${id}.`)
    },
  )
}
