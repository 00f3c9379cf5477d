import { migration } from '../../migration.js'

/**
 * For pools of 100,000 operations. What a bundle may take is chosen inside one index, where the
 * operations that cannot pay the base fee are passed over without being read; and those that expire
 * are found without looking at the others.
 */
export const largePools = migration([
  `drop index operations_pool`,
  `create index operations_pool on operations
    (chain_id, entry_point, max_priority_fee_per_gas desc, received_at, max_fee_per_gas)
    where state = 'pooled'`,
  `create index operations_expiry on operations (chain_id, valid_until)
    where state = 'pooled' and valid_until > 0`,
])
