import { migration } from '../../migration.js'

/**
 * Bounds on what tenants store: the changes of an account within a day are counted by an index of their
 * own, revoked keys and apps are found when they are old, and a key may go before its successor.
 */
export const boundedTenants = migration([
  `create index audit_log_recent on audit_log (account_id, at)`,
  `create index keys_revoked on keys (revoked_at) where revoked_at is not null`,
  `create index keys_expired on keys (expires_at) where expires_at is not null`,
  `create index keys_rotated on keys (rotated_from) where rotated_from is not null`,
  `create index apps_revoked on apps (revoked_at) where revoked_at is not null`,
  `alter table keys drop constraint keys_rotated_from_fkey,
    add constraint keys_rotated_from_fkey
      foreign key (rotated_from) references keys on delete set null`,
])
