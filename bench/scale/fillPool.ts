import { sql } from 'kysely'
import type { Database } from '../../src/db/database.js'
import { forgetBounds } from '../../src/mempool/pool/bounds.js'
import { createApp } from '../../test/support/database/createApp.js'

/** wei per gas: below any base fee, so the operation waits. */
const UNPAYABLE = 1n
/** Far below the limit of one app. */
const PER_APP = 10_000

/**
 * Adds waiting operations, number `from` to `to`, without sending them. Each is a row that admission
 * wrote for an operation which is included meanwhile, with a sender, nonce and hash of its own, of
 * other apps, and with fees that the base fee has overtaken: like operations that were admitted before a chain became
 * expensive. What admission keeps in addition to the rows is counted anew.
 */
export async function fillPool(
  database: Database,
  chainId: number,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const fee = `${UNPAYABLE}n`
  const apps: string[] = []
  while (apps.length * PER_APP < to - from) apps.push(await createApp(database))
  await sql`insert into operations (chain_id, hash, entry_point, app_id, sender, nonce, paymaster,
      max_fee_per_gas, max_priority_fee_per_gas, prefund, assured_price, valid_until, operation,
      state, factory, counted, seen_block, most_charged, valid_until_block, shared_by, first_validation)
    select o.chain_id, '0xff' || lpad(to_hex(i), 62, '0'), o.entry_point,
      (${apps}::uuid[])[1 + i % ${apps.length}::int], new.sender, 0,
      o.paymaster, ${UNPAYABLE}, ${UNPAYABLE}, o.prefund, ${UNPAYABLE}, o.valid_until,
      o.operation || jsonb_build_object('sender', new.sender, 'nonce', '0n',
        'maxFeePerGas', ${fee}::text, 'maxPriorityFeePerGas', ${fee}::text),
      'pooled', o.factory, o.counted, o.seen_block, o.most_charged, o.valid_until_block, o.shared_by, o.first_validation
    from (select * from operations where chain_id = ${chainId} and state = 'included' limit 1) as o,
      generate_series(${from + 1}::int, ${to}::int) as i,
      lateral (select '0xaa' || lpad(to_hex(i), 38, '0') as sender) as new`.execute(database)
  await database.transaction().execute((trx) => forgetBounds(trx, chainId))
  // What the database does in its own time after so many inserts at once.
  await sql`vacuum analyze operations`.execute(database)
}
