import { migration } from '../../migration.js'

const LIVE = `state in ('open', 'included', 'expired')`

/**
 * Policies, and the ledger of what sponsorships reserve and cost. Sponsorships that still hold a
 * deposit when the schema is upgraded become reservations.
 */
export const policies = migration([
  `create table policies (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts,
    app_id uuid references apps,
    name text not null,
    position integer not null,
    active boolean not null,
    terms jsonb not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,
  `create index on policies (account_id, app_id)`,
  `create table reservations (
    id bigint generated always as identity primary key,
    app_id uuid not null references apps,
    chain_id bigint not null,
    entry_point text not null,
    sender text not null,
    nonce numeric(78, 0) not null,
    paymaster text not null,
    max_cost numeric(78, 0) not null,
    valid_until bigint not null,
    state text not null check (state in ('open', 'included', 'expired', 'settled', 'released')),
    block_number bigint,
    user_op_hash text,
    actual_cost numeric(78, 0) not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,
  `create unique index reservations_slot
    on reservations (chain_id, entry_point, sender, nonce, app_id, paymaster) where ${LIVE}`,
  `create index reservations_paymaster on reservations (chain_id, entry_point, paymaster, valid_until)
    include (max_cost, block_number) where ${LIVE}`,
  `create index reservations_open on reservations (chain_id, valid_until) where state = 'open'`,
  `create index reservations_ended on reservations (chain_id, block_number)
    where state in ('included', 'expired')`,
  `create table budget_counters (
    policy_id uuid not null,
    budget text not null,
    subject text not null,
    bucket bigint not null,
    used numeric(78, 0) not null,
    settled numeric(78, 0) not null,
    primary key (policy_id, budget, subject, bucket)
  )`,
  `alter table decisions
    add column policy_id uuid,
    add column details jsonb not null default '{}',
    add column reservation_id bigint references reservations`,
  `create index on decisions (reservation_id)`,
  `create index on decisions (created_at, id)`,
  `create index on webhook_calls (decision_id)`,
  `drop index decisions_live`,
  `create table charges (
    decision_id uuid not null references decisions,
    reservation_id bigint not null references reservations,
    policy_id uuid not null,
    budget text not null,
    subject text not null,
    bucket bigint not null,
    unit text not null check (unit in ('wei', 'usd', 'count')),
    amount numeric(78, 0) not null,
    price numeric(78, 0),
    settled numeric(78, 0) not null default 0,
    primary key (decision_id, policy_id, budget, subject, bucket)
  )`,
  `create index on charges (reservation_id)`,
  `insert into reservations
      (app_id, chain_id, entry_point, sender, nonce, paymaster, max_cost, valid_until, state)
    select d.app_id, d.chain_id, d.entry_point, d.sender, d.nonce, t.address,
      max(d.max_cost), max(d.valid_until), 'open'
    from decisions d
    join tanks t on t.app_id = d.app_id and t.chain_id = d.chain_id
      and t.entry_point = d.entry_point
    where d.sponsored
      and d.created_at > now() - interval '1 day'
      and not exists (select from inclusions i where i.chain_id = d.chain_id
        and i.entry_point = d.entry_point and i.sender = d.sender and i.nonce = d.nonce)
    group by d.app_id, d.chain_id, d.entry_point, d.sender, d.nonce, t.address`,
  `update decisions d set reservation_id = r.id
    from reservations r
    where d.sponsored and r.app_id = d.app_id and r.chain_id = d.chain_id
      and r.entry_point = d.entry_point and r.sender = d.sender and r.nonce = d.nonce`,
])
