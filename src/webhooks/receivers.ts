import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { TenantLimitError } from '../base/errors/limitErrors.js'
import { InvalidParamsError } from '../base/errors/requestErrors.js'
import type { NetworkGuard } from '../base/outbound/networkGuard.js'
import type { Database, Transaction } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'
import { isUuid } from '../db/uuid.js'
import { findAppOwner } from '../tenants/apps.js'
import { type Actor, type AuditChange, audited } from '../tenants/audit.js'
import { decryptSecret, encryptSecret } from '../tenants/secrets.js'
import { newSecret, OVERLAP, SECRET_PURPOSE } from './signing/signature.js'

/** The tables of receivers: URLs of an app, with the secret that signs the requests to them. */
type ReceiverTable = 'webhooks' | 'event_subscriptions'

/** The columns of all of them stand there by name: of a table that is a type's parameter, the compiler knows none. */
type Stored<Table extends ReceiverTable> = Selectable<Schema[Table]> &
  Pick<Selectable<Schema[ReceiverTable]>, 'id' | 'app_id' | 'secret'>

/** One kind of receivers. `View` is a receiver as its app sees it. */
type ReceiverKind<Table extends ReceiverTable, View> = {
  readonly table: Table
  /** Begins the actions of the audit log: `webhook.create`. */
  readonly name: string
  view(stored: Stored<Table>): View
}

export type WebhooksContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly guard: NetworkGuard
  /** The actor that the audit log names. */
  readonly actor: Actor
  readonly maxPerApp?: number
}

const DEFAULT_MAX_PER_APP = 5

/** A receiver of the app; undefined = the app has no such one. */
export async function findReceiver<Table extends ReceiverTable>(
  db: Database,
  table: Table,
  appId: string,
  id: string,
): Promise<Stored<Table> | undefined> {
  if (!isUuid(id)) return undefined
  const { rows } = await sql<Stored<Table>>`select * from ${sql.table(table)}
    where app_id = ${appId} and id = ${id}`.execute(db)
  return rows[0]
}

/** The receivers of an app, the oldest first. */
export async function listReceivers<Table extends ReceiverTable>(
  db: Database,
  table: Table,
  appId: string,
): Promise<readonly Stored<Table>[]> {
  const { rows } = await sql<Stored<Table>>`select * from ${sql.table(table)}
    where app_id = ${appId} order by created_at`.execute(db)
  return rows
}

/**
 * The receivers of one kind, of one app at a time: to any other app they do not exist (undefined or false). Each change
 * is in the audit log. Secrets are kept encrypted.
 */
export function createReceivers<Table extends ReceiverTable, View>(
  { table, name, view }: ReceiverKind<Table, View>,
  { database, masterKey, actor, maxPerApp = DEFAULT_MAX_PER_APP }: WebhooksContext,
) {
  /** Runs a change of one receiver; undefined = the app has no such one. */
  const changeOne = <Result>(
    appId: string,
    id: string,
    run: (change: AuditChange, before: Stored<Table>) => Promise<Result>,
  ): Promise<Result | undefined> =>
    audited(database, actor, async (change) => {
      const before = await findReceiver(change.trx, table, appId, id)
      return before && run(change, before)
    })
  const seal = (secret: string) => encryptSecret(masterKey, SECRET_PURPOSE, secret)
  const entry = async (trx: Transaction, action: string, { id, app_id }: Stored<Table>) => ({
    action: `${name}.${action}`,
    objectId: id,
    appId: app_id,
    accountId: (await findAppOwner(trx, app_id))?.accountId ?? null,
  })

  return {
    changeOne,
    entry,

    /** Stores a receiver with a new secret. Throws the kind's limit error. */
    create: (appId: string, columns: Omit<Insertable<Schema[Table]>, 'app_id' | 'secret'>) =>
      audited(database, actor, async ({ trx, record }) => {
        const signingSecret = newSecret()
        // The app's row is locked, so that creations at the same time are counted one after the other.
        await sql`select from apps where id = ${appId} for update`.execute(trx)
        if ((await listReceivers(trx, table, appId)).length >= maxPerApp)
          throw new TenantLimitError('app', maxPerApp, `${name}s`)
        const stored = await insertReceiver(trx, table, {
          ...columns,
          app_id: appId,
          secret: seal(signingSecret),
        })
        const after = view(stored)
        await record({ ...(await entry(trx, 'create', stored)), after })
        return { after, signingSecret }
      }),

    async list(appId: string): Promise<readonly View[]> {
      return (await listReceivers(database, table, appId)).map(view)
    },

    async get(appId: string, id: string): Promise<View | undefined> {
      const stored = await findReceiver(database, table, appId, id)
      return stored && view(stored)
    },

    /** Changes the columns that `columnsOf` gives; it may refuse the change of `before` by throwing. */
    update: (
      appId: string,
      id: string,
      columnsOf: (before: Stored<Table>) => Updateable<Schema[Table]>,
    ): Promise<View | undefined> =>
      changeOne(appId, id, async ({ trx, record }, before) => {
        const stored = await updateReceiver(trx, table, before, columnsOf(before))
        if (stored === undefined) return undefined
        const after = view(stored)
        await record({ ...(await entry(trx, 'update', stored)), before: view(before), after })
        return after
      }),

    /** The secret `whsec_…` by which the receiver verifies our requests. */
    async signingSecret(appId: string, id: string): Promise<string | undefined> {
      const stored = await findReceiver(database, table, appId, id)
      return stored && decryptSecret(masterKey, SECRET_PURPOSE, stored.secret)
    },

    /** Makes a new secret; the old one signs too for 24 h. */
    rotateSecret: (appId: string, id: string): Promise<string | undefined> =>
      changeOne(appId, id, async ({ trx, record }, before) => {
        const secret = newSecret()
        await sql`update ${sql.table(table)}
          set previous_secret = secret, previous_secret_until = ${new Date(Date.now() + OVERLAP)},
            secret = ${seal(secret)}, updated_at = now()
          where app_id = ${appId} and id = ${id}`.execute(trx)
        await record(await entry(trx, 'rotate_secret', before))
        return secret
      }),

    /** Deletes a receiver, with what waits for it. */
    async delete(appId: string, id: string): Promise<boolean> {
      const deleted = await changeOne(appId, id, async ({ trx, record }, before) => {
        const { numAffectedRows } = await sql`delete from ${sql.table(table)}
          where app_id = ${appId} and id = ${id}`.execute(trx)
        if (numAffectedRows !== 1n) return false
        await record({ ...(await entry(trx, 'delete', before)), before: view(before) })
        return true
      })
      return deleted === true
    },
  }
}

async function insertReceiver<Table extends ReceiverTable>(
  trx: Transaction,
  table: Table,
  columns: object,
): Promise<Stored<Table>> {
  const names = Object.keys(columns).map((column) => sql.ref(column))
  const { rows } = await sql<Stored<Table>>`insert into ${sql.table(table)}
    (${sql.join(names)}) values (${sql.join(Object.values(columns))}) returning *`.execute(trx)
  const [stored] = rows
  if (stored === undefined) throw new Error('an insertion without a row')
  return stored
}

/** Changes the columns that are there; undefined = it was deleted meanwhile. */
async function updateReceiver<Table extends ReceiverTable>(
  trx: Transaction,
  table: Table,
  { app_id, id }: Stored<Table>,
  columns: object,
): Promise<Stored<Table> | undefined> {
  const assignments = Object.entries(columns)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => sql`${sql.ref(column)} = ${value}, `)
  const { rows } = await sql<Stored<Table>>`update ${sql.table(table)}
    set ${sql.join(assignments, sql``)}updated_at = now()
    where app_id = ${app_id} and id = ${id} returning *`.execute(trx)
  return rows[0]
}

const MAX_URL_LENGTH = 2048

/**
 * Requires a URL that can be called. Throws InvalidParamsError, which names `field`, for any other.
 */
export function requireCallable(field: string, text: string, guard: NetworkGuard): void {
  const refuse = (reason: string): never => {
    throw new InvalidParamsError(field, reason)
  }
  if (/[\s\p{Cc}\p{Cs}]/u.test(text)) refuse('must not hold blanks or control characters.')
  if (text.length > MAX_URL_LENGTH) refuse(`is longer than ${MAX_URL_LENGTH} characters.`)
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL.')
  const refusal = guard.refuseUrl(url)
  if (refusal !== undefined) refuse(refusal)
}

/** The distinct URLs of all active webhooks and subscriptions, at most `limit`, of live apps. */
export async function activeReceiverUrls(db: Database, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ url: string }>`
    select distinct url from (
      select url, app_id from webhooks where active
      union all
      select url, app_id from event_subscriptions where active
    ) as receivers
    join apps on apps.id = app_id and apps.revoked_at is null
    order by url limit ${limit}`.execute(db)
  return rows.map(({ url }) => url)
}
