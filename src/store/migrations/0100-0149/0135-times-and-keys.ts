import { migration } from '../../migration.js'

/**
 * The time of the block of an inclusion, the key that sent an operation, and the time at which a key was used
 * last. Rows of earlier versions have none.
 */
export const timesAndKeys = migration([
  `alter table inclusions add column block_time timestamptz`,
  `alter table operations add column key_id uuid`,
  `alter table keys add column last_used_at timestamptz`,
])
