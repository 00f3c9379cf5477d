import { migration } from '../../migration.js'

/** Decisions against a sponsorship, and calls that reverted: few, and asked for most. */
export const refusedRecords = migration([
  `create index decisions_refused on decisions (app_id, created_at, id) where not sponsored`,
  'create index inclusions_reverted on inclusions (block_time) where not success',
])
