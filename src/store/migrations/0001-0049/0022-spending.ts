import { migration } from '../../migration.js'

/** What sponsorships cost lately is read for every tank and credit, to tell how long they last. */
export const spending = migration([
  `create index reservations_recent on reservations (chain_id, app_id, created_at)
    where state in ('included', 'settled')`,
])
