import { migration } from '../../migration.js'

/** Refused requests about operations: the most frequent question of an app's developer is why. */
export const refusals = migration([
  `create table refusals (
    id uuid primary key default gen_random_uuid(),
    at timestamptz not null,
    account_id uuid not null references accounts on delete cascade,
    app_id uuid not null references apps on delete cascade,
    key_id uuid not null,
    chain_id bigint not null,
    method text not null,
    entry_point text,
    sender text,
    nonce numeric(78, 0),
    code integer not null,
    rule text,
    message text not null,
    data text,
    request text,
    request_id text not null
  )`,
  'create index refusals_account on refusals (account_id, at, id)',
  'create index refusals_app on refusals (app_id, at, id)',
  'create index refusals_at on refusals (at)',
])
