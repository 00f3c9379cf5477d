import { migration } from '../../migration.js'

/** Requests that a key or an app may make in a second, minute or day, over all processes; and what keys made. */
export const quotas = migration([
  'alter table keys add column quotas jsonb',
  'alter table apps add column quotas jsonb',
  // One row of a window of a key or app: its newest span, as the database's clock has it.
  `create table quota_windows (
    subject uuid not null,
    seconds integer not null,
    begins bigint not null,
    taken bigint not null,
    granted bigint not null,
    primary key (subject, seconds)
  )`,
  `create table key_usage (
    key_id uuid not null references keys on delete cascade,
    day date not null,
    requests bigint not null,
    refused bigint not null,
    primary key (key_id, day)
  )`,
])
