import { migration } from '../../migration.js'

/**
 * What an app pays with on a chain: its own tank, or prepaid credit (wei) for the operator's shared
 * tank or for operations without any paymaster. Credits only ever add to `credited`; what is taken
 * is counted by the ledger.
 */
export const tankModes = migration([
  `create table funds (
    id uuid primary key default gen_random_uuid(),
    app_id uuid not null references apps,
    chain_id bigint not null,
    mode text not null check (mode in ('tank', 'shared', 'native')),
    credited numeric(78, 0) not null default 0,
    alarm_wei numeric(78, 0) not null default 0,
    alarm_days integer not null default 3,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (app_id, chain_id)
  )`,
  `create table credits (
    id bigint generated always as identity primary key,
    fund_id uuid not null references funds,
    amount numeric(78, 0) not null check (amount <> 0),
    reference text not null,
    created_at timestamptz not null default now(),
    unique (fund_id, reference)
  )`,
  `create table alarms (
    holder uuid primary key,
    available numeric(78, 0) not null,
    days double precision,
    since timestamptz not null default now()
  )`,
  `alter table tanks alter column app_id drop not null`,
  `create unique index tanks_shared on tanks (chain_id, entry_point) where app_id is null`,
  `create table grants (
    chain_id bigint not null,
    user_op_hash text not null,
    app_id uuid not null references apps,
    max_fee_per_gas numeric(78, 0) not null,
    max_priority_fee_per_gas numeric(78, 0) not null,
    valid_until bigint not null,
    created_at timestamptz not null default now(),
    primary key (chain_id, user_op_hash)
  )`,
])
