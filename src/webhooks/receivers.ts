import { type Insertable, type Selectable, sql } from 'kysely'
import type { z } from 'zod'
import { InvalidParamsError } from '../base/errors/requestErrors.js'
import { NotFoundError } from '../base/errors/restErrors.js'
import type { NetworkGuard } from '../base/outbound/networkGuard.js'
import type { Database } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'
import { type Actor, audited } from '../tenants/audit.js'
import {
  changeRow,
  deleteRow,
  findRow,
  findShown,
  insertRow,
  listRows,
  type Resource,
  updateRow,
} from '../tenants/resource.js'
import type { Row } from '../tenants/schemas.js'
import { decryptSecret, encryptSecret } from '../tenants/secrets.js'
import { newSecret, OVERLAP, SECRET_PURPOSE } from './signing/signature.js'

/** The tables of receivers: URLs of an app, with the secret that signs the requests to them. */
type ReceiverTable = 'webhooks' | 'event_subscriptions'

export type WebhooksContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly guard: NetworkGuard
  /** The actor that the audit log names. */
  readonly actor: Actor
}

/** The most receivers of a kind that an app may have. */
export const MAX_PER_APP = 5

/**
 * The receivers of one kind, of one app at a time: to any other app they do not exist (undefined or false). Each change
 * is in the audit log. Secrets are kept encrypted.
 */
export function createReceivers<Table extends ReceiverTable, Shown extends z.ZodObject>(
  kind: Resource<Table, Shown>,
  { database, masterKey, actor }: WebhooksContext,
) {
  // Of a table that is a type's parameter, the compiler knows no columns.
  const where = (appId: string, id: string) =>
    ({ app_id: appId, id }) as Partial<Selectable<Schema[Table]>>
  const seal = (secret: string) => encryptSecret(masterKey, SECRET_PURPOSE, secret)

  return {
    /** Stores a receiver with a new secret. Throws TenantLimitError. */
    async create(appId: string, columns: Omit<Insertable<Schema[Table]>, 'app_id' | 'secret'>) {
      const signingSecret = newSecret()
      const values: object = { ...columns, app_id: appId, secret: seal(signingSecret) }
      const receiver = await audited(database, actor, (change) =>
        insertRow(change, kind, values as Insertable<Schema[Table]>),
      )
      if (receiver === undefined) throw new NotFoundError('App')
      return { receiver, signingSecret }
    },

    list: (appId: string): Promise<readonly Row<Shown>[]> =>
      listRows(database, kind, { app_id: appId } as Partial<Selectable<Schema[Table]>>),

    get: (appId: string, id: string): Promise<Row<Shown> | undefined> =>
      findShown(database, kind, where(appId, id)),

    update: (appId: string, id: string, columns: Parameters<typeof updateRow<Table, Shown>>[3]) =>
      audited(database, actor, (change) => updateRow(change, kind, where(appId, id), columns)),

    /**
     * The secret `whsec_…` by which the receiver verifies our requests. The API must never answer that of a webhook
     * again, because its callers need not own the endpoint.
     */
    async signingSecret(appId: string, id: string): Promise<string | undefined> {
      const row = await findRow<ReceiverTable>(database, kind, where(appId, id))
      return row && decryptSecret(masterKey, SECRET_PURPOSE, row.secret)
    },

    /** Makes a new secret; the old one signs too for 24 h. */
    rotateSecret: (
      appId: string,
      id: string,
    ): Promise<{ readonly signingSecret: string } | undefined> =>
      audited(database, actor, (change) =>
        changeRow(change, kind, where(appId, id), 'rotate_secret', async () => {
          const secret = newSecret()
          await sql`update ${sql.table(kind.table)}
            set previous_secret = secret, previous_secret_until = ${new Date(Date.now() + OVERLAP)},
              secret = ${seal(secret)}, updated_at = now() where id = ${id}`.execute(change.trx)
          return { after: { signingSecret: secret } }
        }),
      ),

    /** Deletes a receiver, with what waits for it. */
    delete: (appId: string, id: string): Promise<boolean> =>
      audited(database, actor, (change) => deleteRow(change, kind, where(appId, id))),
  }
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
