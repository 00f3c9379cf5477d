import { migration } from '../../migration.js'

/**
 * Lists of what went wrong, and of a sender's operations. Only operations that left the usual way are in
 * these indexes, so an operation that is pooled, bundled and included costs nothing more.
 */
export const recordLists = migration([
  `create index operations_ended_badly on operations (app_id, received_at, hash)
    where state in ('dropped', 'replaced')`,
  `create index operations_ended_badly_sender on operations (sender, chain_id, hash)
    where state in ('dropped', 'replaced')`,
  'create index audit_log_object on audit_log (object_id, id)',
])
