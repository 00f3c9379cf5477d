import { migration } from '../../migration.js'

/**
 * Several transactions in flight per executor: fillers of nonce gaps and refills share the outbox
 * with bundles, and a bundle can be cancelled by a transaction of the same nonce that does nothing.
 */
export const executors = migration([
  `alter table bundles
    alter column entry_point drop not null,
    add column kind text not null default 'operations'
      check (kind in ('operations', 'filler', 'refill')),
    add column operation_count integer not null default 0,
    drop constraint bundles_state_check,
    add constraint bundles_state_check
      check (state in ('signed', 'included', 'reverted', 'abandoned', 'cancelled'))`,
  `update bundles b set operation_count = (select count(*) from operations o
    where o.bundle_id = b.id and o.state = 'bundled') where state = 'signed'`,
  `alter table bundle_transactions
    add column noop boolean not null default false,
    add column max_cost numeric(78, 0) not null default 0`,
  `alter table operations add column cancel_requested_at timestamptz`,
])
