import { ConfigError } from '../errors/configError.js'
import type { Database } from '../store/database.js'
import type { AuditChange } from '../store/tenants/audit.js'
import {
  findKeyCheck,
  hasAccounts,
  listStoredSecrets,
  lockKeyCheck,
  putKeyCheck,
  type StoredSecret,
} from '../store/tenants/storedSecrets.js'
import {
  encryptSecret,
  loadMasterKey,
  masterKeyFile,
  readMasterKey,
  type SecretPurpose,
  tryDecrypt,
} from './secrets.js'

/** The place where a process looks for the master key. */
export type KeyPlace = { readonly configured: string | undefined; readonly dataFolder: string }

/** The secrets of a database that a key decrypts, and those that it does not. */
export type KeyTrial = { readonly opened: number; readonly lost: readonly StoredSecret[] }

const KEY_CHECK = 'master key check'
const CHECK_TEXT = 'purser'

/** The use of a stored secret of this kind. */
export function purposeOf(kind: StoredSecret['kind']): SecretPurpose {
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
export function opensCheck(key: Buffer, check: Buffer): boolean {
  return tryDecrypt(key, KEY_CHECK, check) === CHECK_TEXT
}

function placeOf({ configured, dataFolder }: KeyPlace): string {
  return configured === undefined ? `in ${masterKeyFile(dataFolder)}` : '(PURSER_MASTER_KEY)'
}

function wrongKey(place: KeyPlace): ConfigError {
  return new ConfigError(
    `The master key ${placeOf(place)} is not the one of this database, so what is stored encrypted could not be read and new secrets would be lost: give the right one, see docs/keys.md and \`purser keys check\`.`,
  )
}

/** The error of those who need the master key where there is none. */
export function missingKey({ dataFolder }: KeyPlace): ConfigError {
  return new ConfigError(
    `There is no master key, neither PURSER_MASTER_KEY nor ${masterKeyFile(dataFolder)}, and this database needs its own: set PURSER_MASTER_KEY, name the right folder by --data, or restore the file, see docs/keys.md.`,
  )
}

/**
 * Refuses a key that does not fit. Of a database that an earlier version made no key is recorded: there
 * a key fits that decrypts at least half of the secrets.
 */
async function requireFit(db: Database, key: Buffer, place: KeyPlace): Promise<void> {
  const isRecorded = await isRecordedKey(db, key)
  if (isRecorded === false) throw wrongKey(place)
  if (isRecorded === true) return
  const { opened, lost } = await tryMasterKey(db, key)
  if (lost.length > opened) throw wrongKey(place)
  await putKeyCheck(db, checkOf(key))
}

/** The check value of a key. */
export function checkOf(key: Buffer): Buffer {
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
  const key = readMasterKey(place.configured, place.dataFolder)
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
