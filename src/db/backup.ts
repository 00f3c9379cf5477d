import { once } from 'node:events'
import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { sql } from 'kysely'
import { ConfigError } from '../base/errors/configError.js'
import { buildVersion } from '../base/version.js'
import type { Database, Transaction } from './database.js'
import { knownSchema, migrateTo } from './migrate.js'

/*
 * A backup is gzipped text: a line with BackupFacts, for each table a line `["table", [columns]]` and a line for each row, then
 * the number of rows. PostgreSQL writes and reads the rows as jsonb, so no value passes through JavaScript's numbers.
 */

/** What the first line of a backup says. */
export type BackupFacts = {
  /** The version of Purser that made it. */
  readonly purser: string
  /** The last migration of its schema. */
  readonly schema: string
  readonly takenAt: string
  /** The last values of the sequences that give ids. */
  readonly sequences: Readonly<Record<string, string>>
}

export type LoadedBackup = BackupFacts & { readonly rows: number }

const ROWS_PER_STATEMENT = 500
/** Characters, above which a statement takes no further row; jsonb ends at 256 MB. */
const LONGEST_STATEMENT = 4_000_000

/** Rows are copied for as long as it takes. */
const noTimeouts = sql`select set_config(name, '0', true)
  from unnest(array['statement_timeout', 'idle_in_transaction_session_timeout']) as name`

/**
 * The tables with the columns that an insert may give. Those of the migrator are made by migrating, and what a trigger
 * keeps of operations by inserting these.
 */
const columnsByTable = sql<{ table: string; columns: string[] }>`
  select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    and c.relname not like 'kysely\\_%' and c.relname <> 'live_operations'
    and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  group by c.relname order by c.relname`

async function* linesOf(trx: Transaction): AsyncGenerator<string> {
  const schema = await knownSchema(trx)
  if (schema === undefined) throw new ConfigError('The database has no Purser schema.')
  const tables = (await columnsByTable.execute(trx)).rows
  // After the first statement, which fixes what the transaction sees: no row has an id above these.
  const sequences = await sql<{ name: string; value: string }>`
    select sequencename as name, last_value::text as value from pg_sequences
    where schemaname = current_schema() and last_value is not null`.execute(trx)
  const facts: BackupFacts = {
    purser: buildVersion,
    schema,
    takenAt: new Date().toISOString(),
    sequences: Object.fromEntries(sequences.rows.map(({ name, value }) => [name, value])),
  }
  yield `${JSON.stringify(facts)}\n`
  let count = 0
  for (const { table, columns } of tables) {
    yield `${JSON.stringify([table, columns])}\n`
    await sql`declare rows no scroll cursor for
      select to_jsonb(t)::text as row from ${sql.table(table)} t`.execute(trx)
    for (;;) {
      const { rows } = await sql<{ row: string }>`
        fetch ${sql.lit(ROWS_PER_STATEMENT)} from rows`.execute(trx)
      if (rows.length === 0) break
      count += rows.length
      yield `${rows.map(({ row }) => row).join('\n')}\n`
    }
    await sql`close rows`.execute(trx)
  }
  yield `${count}\n`
}

/**
 * Writes all that the database holds at one moment into a new file, while services go on. Changes nothing: the schema may be
 * that of an earlier version, whose service runs.
 * @throws ConfigError when the file exists
 */
export async function writeBackup(database: Database, path: string): Promise<void> {
  await database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await noTimeouts.execute(trx)
      const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true })
      await once(file, 'open').catch((cause) => {
        throw new ConfigError(`The backup cannot be written: ${(cause as Error).message}.`, {
          cause,
        })
      })
      await pipeline(Readable.from(linesOf(trx)), createGzip(), file).catch((error) => {
        rmSync(path, { force: true })
        throw error
      })
    })
}

async function insertRows(
  trx: Transaction,
  [table, columns]: readonly [string, readonly string[]],
  rows: readonly string[],
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.ref(column)))
  await sql`insert into ${sql.table(table)} (${names}) overriding system value
    select ${names} from jsonb_populate_recordset(null::${sql.table(table)}, ${`[${rows.join(',')}]`}::jsonb)`.execute(
    trx,
  )
}

/** Loads the rows of a backup, whose facts were read. @returns their number */
async function loadRows(trx: Transaction, lines: AsyncIterable<string>): Promise<number> {
  let table: [string, string[]] | undefined
  let end: string | undefined
  let rows: string[] = []
  let [count, size] = [0, 0]
  const flush = async (): Promise<void> => {
    if (table !== undefined && rows.length > 0) await insertRows(trx, table, rows)
    count += rows.length
    rows = []
    size = 0
  }
  for await (const line of lines) {
    const isRow = line.startsWith('{')
    if (isRow) {
      rows.push(line)
      size += line.length
    }
    if (!isRow || rows.length === ROWS_PER_STATEMENT || size > LONGEST_STATEMENT) await flush()
    if (line.startsWith('[')) table = JSON.parse(line) as [string, string[]]
    else if (!isRow) end = line
  }
  if (end !== String(count)) throw new ConfigError('The backup is incomplete: rows are missing.')
  return count
}

/** Runs with the foreign keys taken away, which are checked when they are back: tables need no order then. */
async function withoutForeignKeys<Result>(
  trx: Transaction,
  run: () => Promise<Result>,
): Promise<Result> {
  const { rows } = await sql<{ table: string; name: string; definition: string }>`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`.execute(
    trx,
  )
  for (const { table, name } of rows)
    await sql`alter table ${sql.table(table)} drop constraint ${sql.id(name)}`.execute(trx)
  const result = await run()
  for (const { table, name, definition } of rows)
    await sql`alter table ${sql.table(table)} add constraint ${sql.id(name)} ${sql.raw(definition)}`.execute(
      trx,
    )
  return result
}

async function* linesIn(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/**
 * Makes the schema of the backup in an empty database, then loads all rows or none. The next start brings the schema up
 * to date.
 * @throws ConfigError where the file is no whole backup, or one of a newer version
 */
export async function readBackup(database: Database, path: string): Promise<LoadedBackup> {
  const text = createGunzip().setEncoding('utf8')
  try {
    return await pipeline(createReadStream(path), text, async (chunks: AsyncIterable<string>) => {
      const lines = linesIn(chunks)
      const facts = factsOf((await lines.next()).value)
      await migrateTo(database, facts.schema)
      const rows = await database.transaction().execute(async (trx) => {
        await noTimeouts.execute(trx)
        const loaded = await withoutForeignKeys(trx, () => loadRows(trx, lines))
        for (const [name, value] of Object.entries(facts.sequences))
          await sql`select setval(${name}::regclass, ${value}::bigint)`.execute(trx)
        return loaded
      })
      return { ...facts, rows }
    })
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    throw new ConfigError(`The backup cannot be read: ${(cause as Error).message}.`, { cause })
  }
}

function factsOf(line: unknown): BackupFacts {
  const { purser, schema, takenAt, sequences } = JSON.parse(String(line)) as Partial<BackupFacts>
  if (!purser || !schema || !takenAt || !sequences)
    throw new ConfigError('The file is not a Purser backup.')
  return { purser, schema, takenAt, sequences }
}
