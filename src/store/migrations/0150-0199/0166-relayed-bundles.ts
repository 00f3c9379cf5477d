import { migration } from '../../migration.js'

/**
 * The block at which a bundle was given to a relay alone. Null: it is public, as every bundle of a process of an
 * earlier version is.
 */
export const relayedBundles = migration([`alter table bundles add column relayed_from bigint`])
