import { migration } from '../../migration.js'

/**
 * The price that an operation is sure to pay, by which bundles choose. Operations that an earlier version
 * stores have none; their maximum fee then stands for it. One index ranks those that pay their whole tip
 * at a base fee, the other those that pay less of it, and neither reads those that pay too little. The
 * last finds those that have waited too long.
 */
export const assuredPrice = migration([
  `alter table operations add column assured_price numeric(78, 0)`,
  `drop index operations_pool`,
  `create index operations_by_tip on operations
    (chain_id, entry_point, max_priority_fee_per_gas desc, received_at,
      (coalesce(assured_price, max_fee_per_gas) - max_priority_fee_per_gas))
    where state = 'pooled'`,
  `create index operations_by_price on operations
    (chain_id, entry_point, (coalesce(assured_price, max_fee_per_gas)) desc, received_at,
      (coalesce(assured_price, max_fee_per_gas) - max_priority_fee_per_gas))
    where state = 'pooled'`,
  `create index operations_age on operations (chain_id, received_at) where state = 'pooled'`,
])
