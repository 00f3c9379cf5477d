import { migration } from '../../migration.js'

/**
 * Reputation of entities by the hour, and what an operation's second validation must know of its first
 * one. `counted` are the entities whose ops_seen counts the operation; `factory` is null where the
 * sender exists.
 */
export const reputation = migration([
  `create table reputations (
    chain_id bigint not null,
    entry_point text not null,
    address text not null,
    ops_seen bigint not null,
    ops_included bigint not null,
    hour bigint not null default floor(extract(epoch from now()) / 3600),
    primary key (chain_id, entry_point, address)
  )`,
  `alter table operations
    add column factory text,
    add column counted text[] not null default '{}',
    add column seen_block bigint not null default 0,
    add column first_validation jsonb`,
  `create index operations_factory on operations (chain_id, entry_point, factory)
    where state in ('pooled', 'bundled') and factory is not null`,
  `create index tanks_address on tanks (chain_id, entry_point, address)`,
])
