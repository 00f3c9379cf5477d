import { migration } from '../../migration.js'

/** Operations that made a bundle fail on the chain keep their bundle; senders and apps are judged by them. */
export const reverts = migration([
  `create index operations_reverted_sender on operations (chain_id, sender, updated_at)
    where state = 'dropped' and bundle_id is not null`,
  `create index operations_reverted_app on operations (chain_id, app_id, updated_at)
    where state = 'dropped' and bundle_id is not null`,
])
