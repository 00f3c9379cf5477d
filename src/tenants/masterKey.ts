import { sql } from 'kysely'
import { ConfigError } from '../base/errors/configError.js'
import type { Database, Transaction } from '../db/database.js'
import type { AuditChange } from './audit.js'
import {
  encryptSecret,
  loadMasterKey,
  masterKeyFile,
  readMasterKey,
  type SecretPurpose,
  tryDecrypt,
} from './secrets.js'

/** The place where a process looks for the master key. */
export type KeyPlace = {
  readonly configured: string | undefined
  readonly dataFolder: string
  readonly previous?: string | undefined
}

/** The secrets of a database that a key decrypts, and those that it does not. */
export type KeyTrial = { readonly opened: number; readonly lost: readonly StoredSecret[] }

const KEY_CHECK = 'master key check'
const CHECK_TEXT = 'purser'

/** The use of a stored secret of this kind. */
function purposeOf(kind: StoredSecret['kind']): SecretPurpose {
  return kind === 'tank' ? 'tank signer' : 'webhook signature'
}

/** Tries the key on every stored secret. */
export async function tryMasterKey(db: Database, key: Buffer): Promise<KeyTrial> {
  const secrets = await listStoredSecrets(db)
  const lost = secrets.filter(
    ({ kind, secret }) => tryDecrypt(key, purposeOf(kind), secret) === undefined,
  )
  return { opened: secrets.length - lost.length, lost }
}

/** Is the key the one that this database began with? undefined = no key was recorded yet. */
export async function isRecordedKey(db: Database, key: Buffer): Promise<boolean | undefined> {
  const check = await findKeyCheck(db)
  return check && opensCheck(key, check)
}

/** Whether a check value is that of the key. */
function opensCheck(key: Buffer, check: Buffer): boolean {
  return tryDecrypt(key, KEY_CHECK, check) === CHECK_TEXT
}

function placeOf({ configured, dataFolder }: KeyPlace): string {
  return configured === undefined ? `in ${masterKeyFile(dataFolder)}` : '(PURSER_MASTER_KEY)'
}

function wrongKey(place: KeyPlace): ConfigError {
  return new ConfigError(
    `The master key ${placeOf(place)} does not belong to this database: stored secrets could not be decrypted. Configure the right key, see docs/operate/keys.md and \`purser keys check\`.`,
  )
}

/** The error of those who need the master key where there is none. */
export function missingKey({ dataFolder }: KeyPlace): ConfigError {
  return new ConfigError(
    `There is no master key, neither PURSER_MASTER_KEY nor ${masterKeyFile(dataFolder)}, and this database needs its own: set PURSER_MASTER_KEY, name the right folder by --data, or restore the file, see docs/operate/keys.md.`,
  )
}

/** Refuses a key that is not the recorded one; where none is recorded, this one becomes it. */
async function requireFit(db: Database, key: Buffer, place: KeyPlace): Promise<void> {
  const isRecorded = await isRecordedKey(db, key)
  if (isRecorded === false) throw wrongKey(place)
  if (isRecorded === undefined) await putKeyCheck(db, checkOf(key))
}

/** The check value of a key. */
function checkOf(key: Buffer): Buffer {
  return encryptSecret(key, KEY_CHECK, CHECK_TEXT)
}

/**
 * The master key of a command; undefined = there is none, and nothing is made.
 * @throws ConfigError when it is not the key of this database
 */
export async function fittingMasterKey(
  database: Database,
  place: KeyPlace,
): Promise<Buffer | undefined> {
  const key = readMasterKey(place.configured, place.dataFolder, place.previous)
  if (key === undefined || (await isRecordedKey(database, key)) === true) return key
  await database.transaction().execute(async (trx) => {
    await lockKeyCheck(trx)
    await requireFit(trx, key, place)
  })
  return key
}

/**
 * The master key of a service. Where there is none it is made in the data folder, but never for a database
 * that has a key or accounts: what it holds would be lost without a word.
 * @throws ConfigError when the key is missing or is not the key of this database
 */
export async function requireMasterKey(database: Database, place: KeyPlace): Promise<Buffer> {
  const fitting = await fittingMasterKey(database, place)
  if (fitting !== undefined) return fitting
  return database.transaction().execute(async (trx) => {
    await lockKeyCheck(trx)
    if ((await findKeyCheck(trx)) !== undefined || (await hasAccounts(trx))) throw missingKey(place)
    const key = loadMasterKey(place.configured, place.dataFolder)
    await requireFit(trx, key, place)
    return key
  })
}

/**
 * Makes the key the database's own, whatever it decrypts: for operators who lost the earlier one.
 * @returns what only the earlier key decrypts
 */
export async function adoptMasterKey({ trx, record }: AuditChange, key: Buffer): Promise<KeyTrial> {
  await lockKeyCheck(trx)
  const trial = await tryMasterKey(trx, key)
  await putKeyCheck(trx, checkOf(key))
  const after = { opened: trial.opened, lost: trial.lost.map(({ kind, id }) => ({ kind, id })) }
  await record({
    action: 'keys.adopt',
    objectId: 'master key',
    accountId: null,
    appId: null,
    after,
  })
  return trial
}

/** An encrypted secret, and the object that is lost with it. */
type StoredSecret = {
  readonly kind: 'tank' | 'webhook' | 'subscription'
  readonly id: string
  readonly appId: string | null
  /** Of a tank: its chain, EntryPoint, address and owner; else the URL alone. */
  readonly detail: {
    readonly chainId?: number
    readonly entryPoint?: string
    readonly tankKind?: string
    readonly address?: string
    readonly owner?: string
    readonly url?: string
  }
  readonly secret: Buffer
}

/** All secrets that the master key encrypts, of live and of revoked apps, the oldest first. */
async function listStoredSecrets(db: Database): Promise<readonly StoredSecret[]> {
  const { rows } = await sql<StoredSecret>`
    select kind, id, "appId", detail, secret from (
      select 'tank' as kind, id, app_id as "appId", created_at, signer_key as secret,
        jsonb_build_object('chainId', chain_id, 'entryPoint', entry_point, 'tankKind', kind,
          'address', address, 'owner', owner) as detail
      from tanks
      union all
      select 'webhook', id, app_id, created_at, secret, jsonb_build_object('url', url) from webhooks
      union all
      select 'subscription', id, app_id, created_at, secret, jsonb_build_object('url', url)
      from event_subscriptions
    ) as secrets order by created_at, id`.execute(db)
  return rows
}

/** One encrypted secret of a row; a webhook or subscription may have two. */
type SecretColumn = Pick<StoredSecret, 'kind' | 'id' | 'secret'> & {
  readonly column: 'signer_key' | 'secret' | 'previous_secret'
}

const secretColumns = [
  ['tank', 'tanks', 'signer_key'],
  ['webhook', 'webhooks', 'secret'],
  ['webhook', 'webhooks', 'previous_secret'],
  ['subscription', 'event_subscriptions', 'secret'],
  ['subscription', 'event_subscriptions', 'previous_secret'],
] as const

const tableOf = { tank: 'tanks', webhook: 'webhooks', subscription: 'event_subscriptions' } as const

/** All that the master key encrypts, also secrets that were replaced; nobody changes them until the transaction ends. */
async function lockSecretColumns(trx: Transaction): Promise<readonly SecretColumn[]> {
  // Rows that are inserted meanwhile would be missed: readers go on, writers wait.
  await sql`lock table tanks, webhooks, event_subscriptions in share row exclusive mode`.execute(
    trx,
  )
  const found: SecretColumn[] = []
  for (const [kind, table, column] of secretColumns) {
    const { rows } = await sql<{ id: string; secret: Buffer }>`
      select id, ${sql.ref(column)} as secret from ${sql.table(table)}
      where ${sql.ref(column)} is not null order by id for update`.execute(trx)
    found.push(...rows.map(({ id, secret }) => ({ kind, id, column, secret })))
  }
  return found
}

/** Stores a secret in another encryption. */
async function replaceSecret(
  trx: Transaction,
  { kind, id, column }: SecretColumn,
  secret: Buffer,
): Promise<void> {
  await sql`update ${sql.table(tableOf[kind])} set ${sql.ref(column)} = ${secret}
    where id = ${id}`.execute(trx)
}

/** Key of the advisory lock of those who look at or write the check value; spells "key". */
const LOCK = 0x6b6579n

/** Keeps every other process from writing a check value until the transaction ends. */
async function lockKeyCheck(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
}

/** The check value of the master key; undefined = none was stored yet. */
async function findKeyCheck(db: Database): Promise<Buffer | undefined> {
  const row = await db.selectFrom('master_key').select('check_value').executeTakeFirst()
  return row?.check_value
}

/** Stores the check value, in place of an earlier one. */
async function putKeyCheck(db: Database, checkValue: Buffer): Promise<void> {
  await db
    .insertInto('master_key')
    .values({ check_value: checkValue })
    .onConflict((conflict) =>
      conflict.column('one').doUpdateSet({ check_value: checkValue, since: new Date() }),
    )
    .execute()
}

/** Is there an account, live or revoked? */
async function hasAccounts(db: Database): Promise<boolean> {
  return (await db.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** The number of secrets that got the new key, that had it already, and that neither key decrypts. */
export type Rewrapped = {
  readonly rewrapped: number
  readonly already: number
  readonly lost: readonly Pick<StoredSecret, 'kind' | 'id'>[]
}

/**
 * Encrypts every secret with another master key, which becomes the database's: all of it in one transaction, so that
 * a command that is killed has changed nothing. A second run finds what a process with the old key stored since.
 * @throws ConfigError when neither key is the database's, or both are the same
 */
export async function rewrapSecrets(
  { trx, record }: AuditChange,
  oldKey: Buffer,
  newKey: Buffer,
): Promise<Rewrapped> {
  if (oldKey.equals(newKey)) throw new ConfigError('The new master key is the old one.')
  await lockKeyCheck(trx)
  const check = await findKeyCheck(trx)
  if (check !== undefined && !opensCheck(oldKey, check) && !opensCheck(newKey, check))
    throw new ConfigError(
      'Neither the master key nor the new one is the key of this database: see `purser keys check`.',
    )
  let rewrapped = 0
  let already = 0
  const lost: Pick<StoredSecret, 'kind' | 'id'>[] = []
  for (const stored of await lockSecretColumns(trx)) {
    const { kind, id, secret } = stored
    const purpose = purposeOf(kind)
    const text = tryDecrypt(oldKey, purpose, secret)
    if (text !== undefined) {
      const sealed = encryptSecret(newKey, purpose, text)
      if (tryDecrypt(newKey, purpose, sealed) !== text) throw new Error('a secret changed')
      await replaceSecret(trx, stored, sealed)
      rewrapped += 1
    } else if (tryDecrypt(newKey, purpose, secret) !== undefined) already += 1
    else lost.push({ kind, id })
  }
  await putKeyCheck(trx, checkOf(newKey))
  const entry = { objectId: 'master key', accountId: null, appId: null }
  await record({ action: 'keys.rewrap', ...entry, after: { rewrapped, already, lost } })
  return { rewrapped, already, lost }
}
