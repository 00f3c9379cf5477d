import { migration } from '../../migration.js'

/** An operation of v0.9 may be valid until a block. */
export const validUntilBlock = migration([
  `alter table operations add column valid_until_block bigint not null default 0`,
])
