import { type Kysely, sql } from 'kysely'
import { faultPoint } from '../../base/faults.js'

/** The rules that scripts for the dashboard of the original service make, and their policy. */
const statements = [
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
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
  faultPoint('migration:applied')
}
