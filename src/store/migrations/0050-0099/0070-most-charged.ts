import { migration } from '../../migration.js'

/** The gas that v0.6 may charge an operation, which its prefund must cover when it is bundled. */
export const mostCharged = migration([`alter table operations add column most_charged numeric`])
