import { migration } from '../../migration.js'

/**
 * The wei that a mined transaction of ours cost its sender: its gas, and what the chain took beside gas. Bundles
 * that an earlier version settled have none.
 */
export const bundleCost = migration([`alter table bundles add column cost numeric(78, 0)`])
