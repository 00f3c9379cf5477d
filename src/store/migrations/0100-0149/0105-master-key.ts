import { migration } from '../../migration.js'

/**
 * The check value of the master key: one row, encrypted with the key under which this database keeps its
 * secrets, by which any other key is recognised.
 */
export const masterKey = migration([
  `create table master_key (
    one boolean primary key default true check (one),
    check_value bytea not null,
    since timestamptz not null default now()
  )`,
])
