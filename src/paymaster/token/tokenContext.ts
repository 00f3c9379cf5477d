import type { Logger } from 'pino'
import type { ChainMetrics } from '../../base/metrics/metrics.js'
import type { Requester } from '../../base/requester.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import type { FeeAdvice } from '../../chain/fees.js'
import type { HeadFollower } from '../../chain/headFollower.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { Database } from '../../db/database.js'
import type { Estimating } from '../../gas/estimateOperation.js'
import type { Engine } from '../../simulation/engine.js'
import type { DepositReader } from '../entryPointDeposit.js'
import type { Prices } from '../prices/createPrices.js'
import type { SponsorshipTerms } from '../sponsorshipTerms.js'
import type { Payers } from '../tank/payer.js'
import type { Exposure } from './exposure.js'

/** The parts of one chain that its token paymaster is made of. */
export type TokenPaymasterContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly engine: { by(requester: Requester | undefined): Pick<Engine, 'execute'> }
  readonly heads: Pick<HeadFollower, 'refresh'>
  readonly definition: Pick<
    ChainDefinition,
    'chainId' | 'tokens' | 'paymentDefaultSeconds' | 'maxVerificationGas' | 'maxBundleGas'
  >
  readonly prices: Pick<Prices, 'rate'>
  readonly terms: SponsorshipTerms
  readonly logger: Logger
  readonly metrics: ChainMetrics
  readonly estimate: Estimating
  fees(): Promise<FeeAdvice>
}

/** The same, with the parts that remember something from one request to the next. */
export type TokenParts = TokenPaymasterContext & {
  readonly payers: Payers
  readonly depositAt: DepositReader
  readonly exposure: Exposure
}
