import { migration } from '../../migration.js'

/**
 * Administration: what keys may do, the audit log, webhooks with a payload, a deadline and a second
 * secret, and the outbox of events with its subscriptions and deliveries.
 */
export const administration = migration([
  `alter table keys
    add scopes text[] not null default '{bundler,paymaster}',
    add methods text[],
    add allowed_origins text[],
    add allowed_ips text[],
    add expires_at timestamptz,
    add rotated_from uuid references keys`,

  `create table audit_log (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    actor text not null check (actor in ('operator', 'account', 'command')),
    actor_id text,
    ip text,
    request_id text,
    action text not null,
    object_id text not null,
    account_id uuid,
    app_id uuid,
    before jsonb,
    after jsonb,
    hash bytea not null
  )`,
  `create index on audit_log (account_id, id)`,
  `create function refuse_change() returns trigger language plpgsql as $$
    begin raise exception 'the audit log is append-only'; end $$`,
  `create trigger audit_log_append_only before update or delete or truncate on audit_log
    for each statement execute function refuse_change()`,

  `alter table webhooks
    add payload text not null default 'plain' check (payload in ('plain', 'extended')),
    add on_failure text not null default 'deny' check (on_failure in ('deny', 'approve')),
    add deadline_ms integer not null default 2000 check (deadline_ms between 250 and 5000),
    add previous_secret bytea,
    add previous_secret_until timestamptz`,
  `create index on webhook_calls (webhook_id, id)`,

  `alter table tanks
    add low_threshold numeric(78, 0),
    add low_since timestamptz`,

  `create table event_subscriptions (
    id uuid primary key default gen_random_uuid(),
    app_id uuid not null references apps,
    url text not null,
    event_types text[] not null,
    active boolean not null default true,
    secret bytea not null,
    previous_secret bytea,
    previous_secret_until timestamptz,
    failing_since timestamptz,
    disabled_reason text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,
  `create index on event_subscriptions (app_id)`,
  `create table events (
    id uuid primary key default gen_random_uuid(),
    app_id uuid not null references apps,
    type text not null,
    occurred_at timestamptz not null default now(),
    data jsonb not null
  )`,
  `create index on events (occurred_at)`,
  `create table event_deliveries (
    id bigint generated always as identity primary key,
    event_id uuid not null references events on delete cascade,
    subscription_id uuid not null references event_subscriptions on delete cascade,
    state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
    attempts integer not null default 0,
    next_attempt_at timestamptz not null default now(),
    outcome text,
    http_status integer,
    reason text,
    updated_at timestamptz not null default now(),
    unique (event_id, subscription_id)
  )`,
  `create index event_deliveries_due on event_deliveries (next_attempt_at) where state = 'pending'`,
  `create index on event_deliveries (subscription_id, id)`,
])
