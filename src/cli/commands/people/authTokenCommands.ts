import type { Command } from 'commander'
import type { Role } from '../../../base/vocabulary.js'
import { ConfigError } from '../../../errors/configError.js'
import { audited } from '../../../store/tenants/audit.js'
import { listAuthTokens } from '../../../store/tenants/authTokens.js'
import { createAuthToken, endAuthToken } from '../../../tenancy/manageAuthTokens.js'
import { roles } from '../../../tenancy/roles.js'
import { commandActor } from '../../commandActor.js'
import { onStore } from '../../onStore.js'
import { parseName } from '../../parseFlags.js'
import { printTable } from '../../printTable.js'

/** The role that --role names. */
export function parseRole(text: string | undefined): Role {
  const role = roles.find((each) => each === text)
  if (role === undefined) throw new ConfigError(`--role must be ${roles.join(', ')}.`)
  return role
}

function parseEnd(text: string | undefined): Date | null {
  if (text === undefined) return null
  const end = new Date(text)
  if (!(end.getTime() > Date.now()))
    throw new ConfigError('--expires must be a time to come, such as 2030-01-31T12:00:00Z.')
  return end
}

/** `purser auth-token create|list|revoke`; `purser token` is about tokens that are paid for gas. */
export function defineAuthTokenCommand(token: Command): void {
  onStore(
    token
      .command('create')
      .description('make a token of an account and show it once')
      .requiredOption('--account <id>', 'its account')
      .requiredOption('--name <name>', 'for people')
      .requiredOption('--role <role>', `what it may do: ${roles.join(', ')}`)
      .option('--expires <time>', 'such as 2030-01-31T12:00:00Z; never when absent'),
    async ({ store, flags }) => {
      const settings = {
        accountId: flags.account ?? '',
        name: parseName(flags.name),
        role: parseRole(flags.role),
        expiresAt: parseEnd(flags.expires),
      }
      const made = await audited(store.database, commandActor(), (change) =>
        createAuthToken(change, settings),
      )
      if (made === undefined)
        throw new ConfigError(
          `There is no live account ${flags.account}; see \`purser account list\`.`,
        )
      console.log(
        `token      ${made.token.id}\nauthToken  ${made.authToken}\nThe token is not shown again.`,
      )
    },
  )
  onStore(
    token
      .command('list')
      .description('tokens that were not revoked')
      .option('--account <id>', 'of this account'),
    async ({ store, flags }) => printTable(await listAuthTokens(store.database, flags.account)),
  )
  onStore(
    token.command('revoke').argument('<id>').description('end a token'),
    async ({ store, id }) => {
      const isEnded = await audited(store.database, commandActor(), (change) =>
        endAuthToken(change, id),
      )
      if (!isEnded)
        throw new ConfigError(`There is no live token ${id}; see \`purser auth-token list\`.`)
      console.log(`Revoked token ${id}.`)
    },
  )
}
