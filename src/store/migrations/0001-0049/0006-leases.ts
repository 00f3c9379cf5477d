import { migration } from '../../migration.js'

/** Leases for what only one process may do, and what admission needs to stay fast in a full pool. */
export const leases = migration([
  `create table leases (
    name text primary key,
    holder text not null,
    token bigint not null,
    expires_at timestamptz not null
  )`,
  // Never less than what the live operations of a scope add up to; null = must be counted.
  `create table pool_bounds (
    chain_id bigint not null,
    scope text not null,
    bound numeric(78, 0),
    primary key (chain_id, scope)
  )`,
  `create index operations_app on operations (chain_id, app_id)
    where state in ('pooled', 'bundled')`,
  `create index operations_tip on operations (chain_id, max_priority_fee_per_gas, hash)
    where state = 'pooled'`,
  `create index operations_fee on operations (chain_id, max_fee_per_gas, hash)
    where state = 'pooled'`,
])
