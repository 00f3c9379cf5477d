import { migration } from '../../migration.js'

/**
 * While a table is new the server knows nothing of what is in it, and takes any index that fits at all:
 * that of apps was read whole for each sender looked for. Now it fits only who says that it is meant.
 */
export const appIndex = migration([
  `drop index operations_app`,
  `create index operations_app on operations (app_id, chain_id)
    where state in ('pooled', 'bundled') and app_id > '00000000-0000-0000-0000-000000000000'`,
])
