import type { Database } from '../../../src/db/database.js'
import { expiredReservations } from '../../../src/paymaster/ledger/reservations.js'

/** The reservations that expired by block `final`, as after a look at the chain that found nothing. */
export async function everyExpired(
  db: Database,
  chainId: number,
  final: bigint,
): Promise<readonly bigint[]> {
  return (await expiredReservations(db, chainId, final, 1_000)).map(({ id }) => id)
}
