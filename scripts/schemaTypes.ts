import { type Kysely, sql } from 'kysely'

type Column = {
  readonly table: string
  readonly name: string
  /** As PostgreSQL writes it, without its precision: `numeric`, `text[]`. */
  readonly type: string
  readonly isNullable: boolean
  /** Has a default, or is an identity. */
  readonly isGenerated: boolean
  /** The definitions of the checks on this column alone. */
  readonly checks: readonly string[]
}

/** The types of the driver (`src/db/database.ts`). */
const types: Readonly<Record<string, string>> = {
  bigint: 'bigint',
  boolean: 'boolean',
  bytea: 'Buffer',
  date: 'Date',
  'double precision': 'number',
  integer: 'number',
  jsonb: 'unknown',
  numeric: 'bigint',
  smallint: 'number',
  text: 'string',
  'text[]': 'string[]',
  'timestamp with time zone': 'Date',
  uuid: 'string',
}

/** Texts that are addresses or hashes wherever a column has this name. */
const addresses =
  /^(?:address|entry_point|executor|factory|owner|paymaster|sender|signer|tank|token)$/
const hashes = /^(?:digest|hash|user_op_hash|transaction_hash|block_hash|raw)$/

/** Columns about which the catalogue knows less than we do. */
const known: Readonly<Record<string, string>> = {
  'bundles.operations': 'Hex[]',
  'events.type': 'EventType',
  'inclusions.reason': 'Hex',
  'keys.scopes': "('bundler' | 'paymaster')[]",
  'operation_history.code': 'DropCode',
  'operations.counted': 'Address[]',
  'operations.reason_code': 'DropCode',
}

function textType({ name, checks }: Column): string {
  const listed = checks.flatMap((check) => /= ANY \(ARRAY\[(.*)\]\)/.exec(check)?.[1] ?? [])[0]
  if (listed !== undefined) return listed.replaceAll('::text', '').replaceAll(', ', ' | ')
  if (addresses.test(name)) return 'Address'
  return hashes.test(name) ? 'Hex' : 'string'
}

function columnType(column: Column): string {
  const { table, name, type, isNullable, isGenerated } = column
  const plain =
    known[`${table}.${name}`] ?? (type === 'text' ? textType(column) : (types[type] ?? ''))
  if (plain === '') throw new Error(`${table}.${name} has a type without a row in types: ${type}`)
  const whole = isNullable && plain !== 'unknown' ? `${plain} | null` : plain
  return isGenerated ? `Generated<${whole}>` : whole
}

/** The types of the rows of all tables of ours, as the driver gives them; source text. */
export async function schemaTypes(database: Kysely<never>): Promise<string> {
  const { rows } = await sql<Column>`
    select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type,
      not a.attnotnull as "isNullable", a.atthasdef or a.attidentity <> '' as "isGenerated",
      array(select pg_get_constraintdef(k.oid) from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]) as checks
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and c.relname not like 'kysely%' and a.attnum > 0 and not a.attisdropped
    order by c.relname, a.attnum`.execute(database)
  const tables = new Map<string, string[]>()
  for (const column of rows)
    tables.set(column.table, [
      ...(tables.get(column.table) ?? []),
      `    ${column.name}: ${columnType(column)}\n`,
    ])
  const members = [...tables].map(([table, lines]) => `  ${table}: {\n${lines.join('')}  }\n`)
  return `// Generated from src/db/migrations by \`npm run generate:schema\`: do not edit. The columns are described there.
import type { Generated } from 'kysely'
import type { Address, Hex } from 'viem'
import type { EventType } from '../base/vocabulary.js'
import type { DropCode } from './dropCode.js'

/** Rows by table: numeric and bigint come as bigint, jsonb as plain JSON, bytea as Buffer. */
export type Schema = {
${members.join('')}}
`
}
