import { migration } from '../../migration.js'

/** The rules that scripts for the dashboard of the original service make, and their policy. */
export const dashboard = migration([
  `create table dashboards (
    app_id uuid primary key references apps,
    chain_id bigint,
    policy_id uuid references policies on delete set null
  )`,
  `create table dashboard_rules (
    id uuid primary key default gen_random_uuid(),
    app_id uuid not null references dashboards,
    kind text not null check (kind in ('contract', 'limit', 'deployment', 'webhook')),
    name text not null,
    active boolean not null default true,
    data jsonb not null,
    created_at timestamptz not null default now()
  )`,
  `create unique index dashboard_rules_contract on dashboard_rules (app_id, (data ->> 'address'))
    where kind = 'contract'`,
  `create index on dashboard_rules (app_id, created_at)`,
])
