import type { Logger } from 'pino'
import type { Group } from '../../base/createGroup.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import type { FeeAdvice } from '../../chain/fees.js'
import type { HeadFollower } from '../../chain/headFollower.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { Draft } from '../../entrypoint/draft.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { GasEstimate } from '../../gas/gasEstimate.js'
import type { Reserved } from '../../policy/reserve.js'
import type { Database } from '../../store/database.js'
import type { Approver } from '../../webhook/approve.js'
import type { DepositReader } from '../entryPointDeposit.js'
import type { SponsoredStep } from '../sponsorship.js'
import type { SponsorshipTerms } from '../sponsorshipTerms.js'
import type { Payers } from '../tank/payer.js'
import type { SponsorshipReservation } from './createReserving.js'

/** The parts of one chain that its sponsor is made of. */
export type SponsorContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'refresh'>
  readonly definition: Pick<ChainDefinition, 'chainId' | 'maxVerificationGas' | 'maxBundleGas'>
  readonly terms: SponsorshipTerms
  readonly approver: Approver
  readonly logger: Logger
  /** Called with the code of each decision, for the metrics. */
  readonly onDecided?: ((code: string) => void) | undefined
  /** Called with each operation that was sponsored, for the traces. */
  readonly onSponsored?: ((step: SponsoredStep) => void) | undefined
  estimate(entryPoint: EntryPoint, draft: Draft): Promise<GasEstimate>
  fees(): Promise<FeeAdvice>
}

/** The same, with the parts that remember something from one request to the next. */
export type SponsorParts = SponsorContext & {
  readonly payers: Payers
  readonly depositAt: DepositReader
  readonly reserve: Group<SponsorshipReservation, Reserved>
}
