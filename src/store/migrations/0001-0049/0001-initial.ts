import { migration } from '../../migration.js'

/**
 * The first schema. Money is numeric(78,0) (uint256 wei), hashes and addresses lower-case text,
 * secrets bytea (hashed or encrypted before they come here).
 */
export const initial = migration([
  `create table accounts (
    id uuid primary key default gen_random_uuid(),
    name text not null,
    auth_token_hash bytea not null unique,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
  )`,
  `create table apps (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts,
    name text not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
  )`,
  `create index on apps (account_id)`,
  `create table keys (
    id uuid primary key default gen_random_uuid(),
    app_id uuid not null references apps,
    name text not null,
    hash bytea not null unique,
    last4 text not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
  )`,
  `create index on keys (app_id)`,
  `create table tanks (
    id uuid primary key default gen_random_uuid(),
    app_id uuid not null references apps,
    chain_id bigint not null,
    entry_point text not null,
    address text not null,
    owner text not null,
    signer text not null,
    signer_key bytea not null,
    created_at timestamptz not null default now(),
    unique (app_id, chain_id, entry_point)
  )`,
  `create table webhooks (
    id uuid primary key default gen_random_uuid(),
    app_id uuid not null references apps,
    url text not null,
    request_type text not null check (request_type in ('GET', 'POST')),
    active boolean not null default true,
    secret bytea not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,
  `create index on webhooks (app_id)`,
  `create table decisions (
    id uuid primary key,
    app_id uuid not null references apps,
    chain_id bigint not null,
    entry_point text not null,
    sender text not null,
    nonce numeric(78, 0) not null,
    user_op_hash text,
    sponsored boolean not null,
    code text not null,
    message text not null,
    max_cost numeric(78, 0) not null,
    valid_after bigint not null,
    valid_until bigint not null,
    created_at timestamptz not null default now()
  )`,
  `create index on decisions (app_id, created_at)`,
  `create index on decisions (chain_id, user_op_hash)`,
  `create index decisions_live on decisions (app_id, chain_id, entry_point, valid_until)
    where sponsored`,
  `create table webhook_calls (
    id bigint generated always as identity primary key,
    decision_id uuid not null references decisions,
    webhook_id uuid not null,
    app_id uuid not null references apps,
    outcome text not null,
    http_status integer,
    reason text,
    attempts integer not null,
    duration_ms double precision not null,
    started_at timestamptz not null
  )`,
  `create index on webhook_calls (app_id, started_at)`,
  `create table bundles (
    id bigint generated always as identity primary key,
    chain_id bigint not null,
    entry_point text not null,
    executor text not null,
    nonce bigint not null,
    state text not null check (state in ('signed', 'included', 'reverted', 'abandoned')),
    transaction_hash text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,
  `create index bundles_open on bundles (chain_id, executor, nonce) where state = 'signed'`,
  `create table bundle_transactions (
    chain_id bigint not null,
    hash text not null,
    bundle_id bigint not null references bundles,
    raw text not null,
    max_fee_per_gas numeric(78, 0) not null,
    max_priority_fee_per_gas numeric(78, 0) not null,
    created_at timestamptz not null default now(),
    primary key (chain_id, hash)
  )`,
  `create index on bundle_transactions (bundle_id)`,
  `create table operations (
    chain_id bigint not null,
    hash text not null,
    entry_point text not null,
    app_id uuid not null references apps,
    sender text not null,
    nonce numeric(78, 0) not null,
    paymaster text,
    max_fee_per_gas numeric(78, 0) not null,
    max_priority_fee_per_gas numeric(78, 0) not null,
    prefund numeric(78, 0) not null,
    valid_until bigint not null,
    operation jsonb not null,
    state text not null check (state in ('pooled', 'bundled', 'included', 'dropped', 'replaced')),
    reason_code text,
    reason text,
    attempts integer not null default 0,
    bundle_id bigint references bundles,
    received_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (chain_id, hash)
  )`,
  `create unique index operations_slot on operations (chain_id, entry_point, sender, nonce)
    where state in ('pooled', 'bundled')`,
  `create index operations_pool on operations (chain_id, entry_point, max_priority_fee_per_gas desc)
    where state = 'pooled'`,
  `create index operations_paymaster on operations (chain_id, entry_point, paymaster)
    where state in ('pooled', 'bundled') and paymaster is not null`,
  `create index on operations (bundle_id)`,
  `create table inclusions (
    chain_id bigint not null,
    user_op_hash text not null,
    entry_point text not null,
    sender text not null,
    nonce numeric(78, 0) not null,
    paymaster text not null,
    success boolean not null,
    actual_gas_cost numeric(78, 0) not null,
    actual_gas_used numeric(78, 0) not null,
    reason text not null,
    transaction_hash text not null,
    block_number bigint not null,
    block_hash text not null,
    log_index integer not null,
    logs jsonb not null,
    primary key (chain_id, user_op_hash)
  )`,
  `create index on inclusions (chain_id, block_number)`,
  `create index on inclusions (chain_id, entry_point, sender, nonce)`,
  `create table transaction_receipts (
    chain_id bigint not null,
    hash text not null,
    block_number bigint not null,
    block_hash text not null,
    receipt jsonb not null,
    primary key (chain_id, hash)
  )`,
  `create index on transaction_receipts (chain_id, block_number)`,
  `create table chain_blocks (
    chain_id bigint not null,
    number bigint not null,
    hash text not null,
    primary key (chain_id, number)
  )`,
])
