import { migration } from '../../migration.js'

/** The changes of the circuits of webhooks, which are memory of one process: rare, and lost with it. */
export const webhookCircuits = migration([
  `create table webhook_circuits (
    id bigint generated always as identity primary key,
    webhook_id uuid not null references webhooks on delete cascade,
    at timestamptz not null default now(),
    state text not null check (state in ('open', 'closed'))
  )`,
  'create index webhook_circuits_webhook on webhook_circuits (webhook_id, id)',
  'create index webhook_circuits_at on webhook_circuits (at)',
])
