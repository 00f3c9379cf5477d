import type { Logger } from 'pino'
import { type Batcher, createBatcher } from '../../base/createBatcher.js'
import type { ChainMetrics } from '../../base/metrics/metrics.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import type { FeeAdvice } from '../../chain/fees.js'
import type { HeadFollower } from '../../chain/headFollower.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { Database } from '../../db/database.js'
import type { Estimating } from '../../gas/estimateOperation.js'
import type { ChainEngine } from '../../simulation/chainEngine.js'
import type { Approver } from '../../webhooks/approve.js'
import type { DepositReader } from '../entryPointDeposit.js'
import { type Grant, putGrants } from '../ledger/grants.js'
import { type Reservation, type Reserved, reserveTogether } from '../policy/reserve.js'
import type { SponsoredStep } from '../sponsorship.js'
import type { SponsorshipTerms } from '../sponsorshipTerms.js'
import type { Payers } from '../tank/payer.js'

/** The parts of one chain that its sponsor is made of. */
export type SponsorContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'current' | 'age' | 'refresh'>
  readonly definition: Pick<
    ChainDefinition,
    'chainId' | 'maxVerificationGas' | 'maxBundleGas' | 'nativeCoin' | 'pollInterval'
  >
  readonly terms: SponsorshipTerms
  readonly approver: Approver
  readonly logger: Logger
  readonly metrics: ChainMetrics
  /** Called with each operation that was sponsored, for the traces. */
  readonly onSponsored?: ((step: SponsoredStep) => void) | undefined
  readonly estimate: Estimating
  readonly foresee: ChainEngine['foresee']
  fees(): Promise<FeeAdvice>
}

/** The same, with the parts that remember something from one request to the next. */
export type SponsorParts = SponsorContext & {
  readonly payers: Payers
  readonly depositAt: DepositReader
  readonly reserve: Batcher<SponsorshipReservation, Reserved>
}

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
export function createReserving(database: Database): Batcher<SponsorshipReservation, Reserved> {
  // One batcher for each tank that has sponsored something.
  const batchers = new Map<string, Batcher<SponsorshipReservation, Reserved>>()
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
    const batcher = batchers.get(name) ?? createBatcher(commit, GROUP)
    batchers.set(name, batcher)
    return batcher(reservation)
  }
}
