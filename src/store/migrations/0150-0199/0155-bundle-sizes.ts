import { migration } from '../../migration.js'

/**
 * The sizes of bundles that estimates reckoned with lately, by chain and EntryPoint, for all processes; and for
 * each operation the number of those that its preVerificationGas shares a bundle with. Rows of an earlier
 * version count as alone.
 */
export const bundleSizes = migration([
  `create table bundle_sizes (
    chain_id bigint not null,
    entry_point text not null,
    decided_at timestamptz not null default clock_timestamp(),
    size smallint not null check (size between 1 and 100),
    primary key (chain_id, entry_point, decided_at)
  )`,
  `alter table operations add column shared_by smallint not null default 1`,
])
