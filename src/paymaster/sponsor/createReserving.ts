import { createGroup, type Group } from '../../base/createGroup.js'
import { type Reservation, type Reserved, reserveTogether } from '../../policy/reserve.js'
import type { Database } from '../../store/database.js'
import { type Grant, putGrants } from '../../store/ledger/grants.js'

/** A sponsorship that asks the ledger; without a paymaster the grant stands for its signature. */
export type SponsorshipReservation = Reservation & { readonly grant: Grant | undefined }

/** Reservations that share a transaction at most. */
const GROUP = 64

/**
 * Reserves, as `reserveTogether` says. Reservations of one payer have to wait for each other in the
 * database, so those that come while it decides about others wait here, where they hold no connection,
 * and share the next transaction.
 */
export function createReserving(database: Database): Group<SponsorshipReservation, Reserved> {
  // As many as there are tanks that sponsored something.
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
