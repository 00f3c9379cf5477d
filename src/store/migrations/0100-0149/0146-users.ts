import { migration } from '../../migration.js'

/**
 * People: users, the accounts in which they have a role, their sessions, invitations, and the attempts to sign
 * in. Tokens are stored as hashes, passwords as scrypt in PHC form, e-mail addresses in lower case.
 */
export const users = migration([
  `create table users (
    id uuid primary key default gen_random_uuid(),
    email text not null unique check (email = lower(email)),
    name text not null,
    password_hash text,
    is_operator boolean not null default false,
    created_at timestamptz not null default now(),
    disabled_at timestamptz
  )`,
  `create table members (
    account_id uuid not null references accounts,
    user_id uuid not null references users,
    role text not null check (role in ('viewer', 'developer', 'admin')),
    created_at timestamptz not null default now(),
    primary key (account_id, user_id)
  )`,
  'create index members_user on members (user_id)',
  `create table sessions (
    id uuid primary key default gen_random_uuid(),
    user_id uuid not null references users,
    token_hash bytea not null unique,
    created_at timestamptz not null default now(),
    seen_at timestamptz not null default now(),
    expires_at timestamptz not null,
    ended_at timestamptz,
    ip text,
    agent text
  )`,
  'create index sessions_user on sessions (user_id, created_at)',
  'create index sessions_end on sessions (expires_at)',
  `create table invitations (
    id uuid primary key default gen_random_uuid(),
    token_hash bytea not null unique,
    email text not null check (email = lower(email)),
    account_id uuid references accounts,
    role text check (role in ('viewer', 'developer', 'admin')),
    invited_by uuid references users,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    check ((account_id is null) = (role is null))
  )`,
  'create index invitations_account on invitations (account_id)',
  'create index invitations_email on invitations (email)',
  `create table sign_in_attempts (
    subject bytea primary key,
    failures integer not null,
    failed_at timestamptz not null,
    locked_until timestamptz,
    trusted_until timestamptz
  )`,
  'create index sign_in_attempts_failed on sign_in_attempts (failed_at)',
])
