import { createGroup, type Group } from '../../base/createGroup.js'
import { type Reservation, type Reserved, reserveTogether } from '../../policy/reserve.js'
import type { Database } from '../../store/database.js'
import { type Grant, putGrants } from '../../store/ledger/grants.js'

/**
 * A reservation of a sponsorship; without a paymaster, the grant stands for the tank's signature.
 */
export type SponsorshipReservation = Reservation & { readonly grant: Grant | undefined }

/** The most reservations that share a transaction. */
const GROUP = 64

/**
 * A function that reserves as `reserveTogether` does. Reservations of one payer have to wait for
 * each other in the database; so a reservation that comes while others are decided waits here,
 * where it holds no connection, and shares the next transaction.
 */
export function createReserving(database: Database): Group<SponsorshipReservation, Reserved> {
  // One group for each tank that has sponsored something.
  const groups = new Map<string, Group<SponsorshipReservation, Reserved>>()
  const commit = (reservations: readonly SponsorshipReservation[]) =>
    reserveTogether(database, reservations, (trx, granted) =>
      putGrants(
        trx,
        granted.flatMap(({ grant }) => grant ?? []),
      ),
    )
  return (reservation) => {
    const { chainId, entryPoint, paymaster } = reservation.request.slot
    const name = `${chainId} ${entryPoint} ${paymaster}`
    const group = groups.get(name) ?? createGroup(commit, GROUP)
    groups.set(name, group)
    return group(reservation)
  }
}
