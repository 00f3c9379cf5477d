import { migration } from '../../migration.js'

/**
 * Named tokens of accounts, with a role and an end. The token of each account becomes its first one.
 * `accounts.auth_token_hash` stays for processes of the earlier version, which read and write nothing else: a trigger
 * makes what is written there the account's first token.
 */
export const authTokens = migration([
  `create table auth_tokens (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts,
    name text not null,
    hash bytea not null unique,
    last4 text,
    role text not null check (role in ('viewer', 'developer', 'admin')),
    is_first boolean not null default false,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz
  )`,
  'create index auth_tokens_account on auth_tokens (account_id)',
  `insert into auth_tokens (account_id, name, hash, role, is_first, created_at)
    select id, 'authToken', auth_token_hash, 'admin', true, created_at from accounts`,
  'alter table accounts alter column auth_token_hash drop not null',
  `create function keep_first_token() returns trigger language plpgsql as $$
  begin
    update auth_tokens set revoked_at = now()
    where account_id = new.id and is_first and revoked_at is null;
    insert into auth_tokens (account_id, name, hash, role, is_first)
    values (new.id, 'authToken', new.auth_token_hash, 'admin', true);
    return null;
  end $$`,
  `create trigger accounts_first_token after insert or update of auth_token_hash on accounts for each row
    when (new.auth_token_hash is not null) execute function keep_first_token()`,
  'alter table audit_log drop constraint audit_log_actor_check',
  `alter table audit_log add constraint audit_log_actor_check
    check (actor in ('operator', 'account', 'command', 'token', 'user'))`,
])
