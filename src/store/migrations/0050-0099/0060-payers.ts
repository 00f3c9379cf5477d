import { stoppedMigration } from '../../migration.js'

/**
 * What reservations lock of a payer's deposit becomes a running amount. It begins as it was before the
 * first block, when every live reservation still locked; the next sponsorship brings it up to date.
 */
export const payers = stoppedMigration([
  // Nobody may reserve or settle between the sum and the commit.
  `lock table reservations in share row exclusive mode`,
  `create table payers (
    chain_id bigint not null,
    entry_point text not null,
    paymaster text not null,
    locked numeric not null,
    block_number bigint not null,
    timestamp bigint not null,
    primary key (chain_id, entry_point, paymaster)
  )`,
  `insert into payers (chain_id, entry_point, paymaster, locked, block_number, timestamp)
    select chain_id, entry_point, paymaster,
      coalesce(sum(max_cost) filter (where state in ('open', 'included', 'expired')), 0), -1, 0
    from reservations group by chain_id, entry_point, paymaster`,
  `create index reservations_included on reservations (chain_id, entry_point, paymaster, block_number)
    where state = 'included'`,
])
