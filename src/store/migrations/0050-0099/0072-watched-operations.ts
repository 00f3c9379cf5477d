import { migration } from '../../migration.js'

/** Operations that were just dropped may still be included; those that end with a block must be found. */
export const watchedOperations = migration([
  `create index operations_dropped on operations (chain_id, updated_at) where state = 'dropped'`,
  `create index operations_last_block on operations (chain_id, valid_until_block)
    where state = 'pooled' and valid_until_block > 0`,
])
