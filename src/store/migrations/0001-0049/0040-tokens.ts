import { migration } from '../../migration.js'

/** Gas paid in tokens: tanks that take them, what was quoted, and what was paid. */
export const tokens = migration([
  `alter table tanks add column kind text not null default 'gas'
    check (kind in ('gas', 'token'))`,
  `alter table tanks alter column kind drop default`,
  `alter table tanks drop constraint tanks_app_id_chain_id_entry_point_key`,
  `alter table tanks add unique (app_id, chain_id, entry_point, kind)`,
  `drop index tanks_shared`,
  `create unique index tanks_shared on tanks (chain_id, entry_point, kind) where app_id is null`,
  `create table token_quotes (
    decision_id uuid primary key references decisions on delete cascade,
    chain_id bigint not null,
    token text not null,
    mode text not null check (mode in ('prefund', 'afterwards', 'permit')),
    rate numeric(78, 0) not null,
    markup integer not null,
    max_charge numeric(78, 0) not null
  )`,
  `create index on token_quotes (chain_id, token)`,
  `create table token_payments (
    chain_id bigint not null,
    user_op_hash text not null,
    app_id uuid not null references apps,
    tank text not null,
    sender text not null,
    token text not null,
    charged numeric(78, 0) not null,
    cost numeric(78, 0) not null,
    missed boolean not null,
    block_number bigint not null,
    booked_at timestamptz not null default now(),
    primary key (chain_id, user_op_hash)
  )`,
  `create index on token_payments (chain_id, token, tank)`,
  `create index on token_payments (app_id)`,
  `create index token_payments_missed on token_payments (chain_id, sender, booked_at) where missed`,
])
