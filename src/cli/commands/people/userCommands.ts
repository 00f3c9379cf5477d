import type { Command } from 'commander'
import { ConfigError } from '../../../base/errors/configError.js'
import { adminUrlOf } from '../../../config/adminUrlOf.js'
import type { Config } from '../../../config/options.js'
import type { Database } from '../../../db/database.js'
import { audited } from '../../../tenants/audit.js'
import { requireEmail } from '../../../tenants/people/email.js'
import { invitationRoutes, offerPassword } from '../../../tenants/people/invitations.js'
import { createPasswords, requireGoodPassword } from '../../../tenants/people/passwords.js'
import {
  changePassword,
  changeUser,
  createUser,
  findUserByEmail,
  type User,
  userRoutes,
} from '../../../tenants/people/users.js'
import { commandActor } from '../../commandActor.js'
import { type Flags, onStore } from '../../onStore.js'
import { parseName, secretOfFlag } from '../../parseFlags.js'
import { defineRoutes } from '../../routeCommands.js'

const passwordFlag = [
  '--password <password>',
  'env:NAME or file:PATH; absent = a token is printed by which the user chooses one',
] as const

async function requireUser(database: Database, email: string): Promise<User> {
  const user = await findUserByEmail(database, requireEmail(email))
  if (user !== undefined) return user
  throw new ConfigError(`There is no user ${email}; see \`purser user list\`.`)
}

/** The hash of the password that --password names; undefined = the flag is absent. */
async function passwordHashOf({ password }: Flags, email: string): Promise<string | undefined> {
  if (password === undefined) return undefined
  const secret = secretOfFlag('--password', password)
  requireGoodPassword(secret, requireEmail(email))
  return createPasswords().hash(secret, 'command')
}

type Shown = {
  readonly invitation: { readonly expiresAt: Date | string }
  readonly token: string
}

/** Says how to accept an invitation, by the address under which browsers reach the administration. */
function showInvitation({ invitation: { expiresAt }, token }: Shown, config: Config): void {
  const local = `http://localhost:${config.adminListen?.port ?? config.port}`
  const site = (adminUrlOf(config) ?? local).replace(/\/$/, '')
  console.log(`token      ${token}\nexpires    ${new Date(expiresAt).toISOString()}`)
  console.log(
    `The token is not shown again. It sets a password once, at ${site}/console/setup#${token}`,
  )
}

/** `purser user create|list|disable|password|invite` */
export function defineUserCommand(user: Command): void {
  onStore(
    user
      .command('create')
      .description('create a user; also the first operator of an instance')
      .requiredOption('--email <email>', 'used to sign in')
      .option('--name <name>', 'shown name; default: the e-mail address')
      .option('--operator', 'may administer the instance and enter every account')
      .option(...passwordFlag),
    async ({ store, config, flags }) => {
      const { email = '' } = flags
      const passwordHash = await passwordHashOf(flags, email)
      const name = parseName(flags.name ?? email)
      const isOperator = flags.operator !== undefined
      const settings = { email, name, isOperator, passwordHash: passwordHash ?? null }
      const { made, shown } = await audited(store.database, commandActor(), async (change) => {
        const made = await createUser(change, settings)
        const isOffered = passwordHash === undefined
        return { made, shown: isOffered ? await offerPassword(change, made, null) : undefined }
      })
      console.log(`user       ${made.id}`)
      if (shown !== undefined) showInvitation(shown, config)
    },
    ['adminUrl', 'publicUrl'],
  )
  defineRoutes(user, userRoutes)
  onStore(
    user
      .command('disable')
      .argument('<email>')
      .description('disable a user: end all sessions and invitations'),
    async ({ store, id: email }) => {
      const { id } = await requireUser(store.database, email)
      await audited(store.database, commandActor(), (change) =>
        changeUser(change, id, { disabled_at: new Date() }),
      )
      console.log(`Disabled user ${email}.`)
    },
  )
  onStore(
    user
      .command('password')
      .argument('<email>')
      .description('set a new password for a user, and end all sessions')
      .option(...passwordFlag),
    async ({ store, config, flags, id: email }) => {
      const found = await requireUser(store.database, email)
      const passwordHash = await passwordHashOf(flags, email)
      const shown = await audited(store.database, commandActor(), async (change) => {
        if (passwordHash === undefined) return offerPassword(change, found, null)
        await changePassword(change, found.id, passwordHash, undefined)
        return undefined
      })
      if (shown !== undefined) showInvitation(shown, config)
      else console.log(`Changed the password of ${email}.`)
    },
    ['adminUrl', 'publicUrl'],
  )
  defineRoutes(user, invitationRoutes, {
    commands: {
      invite: {
        settings: ['adminUrl', 'publicUrl'],
        print: (made: Shown, { config }) => showInvitation(made, config),
      },
    },
  })
}
