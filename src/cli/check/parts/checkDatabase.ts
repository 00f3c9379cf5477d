import type { Logger } from 'pino'
import { ConfigError } from '../../../base/errors/configError.js'
import type { Config } from '../../../config/options.js'
import { type Database, openDatabase } from '../../../db/database.js'
import { findEmbeddedPostgres } from '../../../db/embedded/embeddedPostgres.js'
import { type DatabaseFacts, inspectDatabase } from '../../../db/embedded/inspectDatabase.js'
import { isRecordedKey, tryMasterKey } from '../../../tenants/masterKey.js'
import { readMasterKey } from '../../../tenants/secrets.js'
import { type Finding, reasonOf, reporterOf } from '../finding.js'

type DatabaseCheck = {
  readonly findings: readonly Finding[]
  /** Absent where none answers, or its schema is not the one of this version. */
  readonly database?: Database
  readonly close: () => Promise<void>
}

const report = reporterOf('database')

/** Seconds by which the server's clock may differ from ours before leases and ends of promises suffer. */
const CLOCK_TOLERANCE = 2
/** Those that a check needs at once. */
const POOL_SIZE = 4

/**
 * Looks at the database as it is. The server in a data folder is used while somebody runs it and not
 * started otherwise: a start would write to the folder.
 */
export async function checkDatabase(config: Config, logger: Logger): Promise<DatabaseCheck> {
  const nothing = async (): Promise<void> => {}
  const found =
    config.databaseUrl === undefined
      ? findEmbeddedPostgres(config.data)
      : { connection: { url: config.databaseUrl }, release: () => {} }
  if (found === 'absent') {
    const text = `there is none in ${config.data}; the first start makes an embedded one there`
    return { findings: [report.ok(text), ...keyWithoutDatabase(config)], close: nothing }
  }
  if (found === 'stopped') {
    const text = `the embedded database in ${config.data} does not run now, so it was not looked into`
    return { findings: [report.ok(text), ...keyWithoutDatabase(config)], close: nothing }
  }
  const database = openDatabase(found.connection, logger, { size: POOL_SIZE })
  const close = async (): Promise<void> => {
    await database.destroy()
    found.release()
  }
  try {
    const facts = await inspectDatabase(database)
    const findings = findingsOf(facts)
    if (facts.schema === 'none')
      return { findings: [...findings, ...keyWithoutDatabase(config)], close }
    if (facts.schema !== 'current') return { findings, close }
    return { findings: [...findings, ...(await keyOf(config, database))], database, close }
  } catch (error) {
    const remedy = 'start it, or correct DATABASE_URL (host, user, password, name of the database)'
    return { findings: [report.fault(`it cannot be used: ${reasonOf(error)}`, remedy)], close }
  }
}

function findingsOf(facts: DatabaseFacts): Finding[] {
  const { version, isReadOnly, mayCreate, clockAhead, schema, risks } = facts
  const findings = [report.ok(`PostgreSQL ${version} answers`)]
  if (isReadOnly)
    findings.push(
      report.fault(
        'it takes no writes',
        'name the primary by DATABASE_URL, or end default_transaction_read_only',
      ),
    )
  if (!mayCreate && schema !== 'current')
    findings.push(
      report.fault(
        'its user may not create tables, which the next start needs',
        'grant create on the schema to the user, or run purser migrate as one who may',
      ),
    )
  if (Math.abs(clockAhead) > CLOCK_TOLERANCE)
    findings.push(
      report.warning(
        `its clock is ${Math.abs(clockAhead).toFixed(1)} s ${clockAhead > 0 ? 'ahead of' : 'behind'} ours`,
        'synchronise both machines by NTP',
      ),
    )
  for (const risk of risks)
    findings.push(report.warning(risk.replace(/\.$/, ''), 'turn it on in postgresql.conf'))
  findings.push(schemaFinding(schema))
  return findings
}

function schemaFinding(schema: DatabaseFacts['schema']): Finding {
  switch (schema) {
    case 'none':
      return report.ok('it is empty; the first start creates the schema')
    case 'older':
      return report.warning(
        'its schema is that of an earlier version, so its content was not checked',
        'the next start upgrades it',
      )
    case 'newer':
      return report.fault(
        'its schema is that of a newer version of Purser',
        'run that version, or restore a backup that was made before it',
      )
    case 'current':
      return report.ok('its schema is that of this version')
  }
}

/** The master key where there is nothing yet that it must fit. */
function keyWithoutDatabase({ masterKey, data }: Config): Finding[] {
  const keys = reporterOf('keys')
  try {
    const key = readMasterKey(masterKey, data)
    return [keys.ok(key ? 'the master key is well formed' : 'the first start creates a master key')]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [keys.fault(error.message.replace(/\.$/, ''), 'purser keys new prints one')]
  }
}

/** Whether the master key is that of the database, and decrypts all that it holds. */
async function keyOf(
  { masterKey, masterKeyPrevious, data }: Config,
  database: Database,
): Promise<Finding[]> {
  const keys = reporterOf('keys')
  try {
    const key = readMasterKey(masterKey, data, masterKeyPrevious)
    if (key === undefined)
      return [
        keys.fault(
          'there is no master key, neither PURSER_MASTER_KEY nor in the data folder',
          'give the one of this database, see docs/operate/keys.md',
        ),
      ]
    const { lost, opened } = await tryMasterKey(database, key)
    const isOther = (await isRecordedKey(database, key)) === false
    if (isOther || lost.length > 0)
      return [
        keys.fault(
          `the master key is not the one of this database: it does not decrypt ${lost.length} of ${lost.length + opened} secrets`,
          'give the right one; purser keys check lists what is concerned',
        ),
      ]
    return [keys.ok(`the master key decrypts all ${opened} secrets`)]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [keys.fault(error.message.replace(/\.$/, ''), 'give the one of this database')]
  }
}
