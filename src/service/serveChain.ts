import type { ChainServices } from '../api/services.js'
import { unixNow } from '../base/unixNow.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import { createOperationNews, type OperationNews } from '../bundler/operationNews.js'
import { createSenderNews } from '../bundler/senderNews.js'
import {
  createReceiptMemory,
  operationByHash,
  operationReceipt,
  operationStatus,
  preconfirmedReceipt,
} from '../bundler/operationViews.js'
import { adviseFees, type FeeAdvice } from '../chain/fees.js'
import { getBlock } from '../chain/nodeReads.js'
import type { Database } from '../db/database.js'
import { type DataPrice, dataPriceAt } from '../gas/dataPrice.js'
import { type Estimating, estimateOperation } from '../gas/estimateOperation.js'
import { neededCallGas } from '../gas/neededGas.js'
import { expectedShare } from '../gas/preVerificationGas.js'
import { explainCharge } from '../gas/waterfall.js'
import { createBundleSizes, type ExpectedSizes } from '../mempool/bundleSizes.js'
import { createMempool, type Mempool } from '../mempool/createMempool.js'
import { type AppFees, createAppFees } from '../paymaster/appFees.js'
import { createTokenPaymaster } from '../paymaster/createTokenPaymaster.js'
import { explainRevert } from '../paymaster/explainRevert.js'
import { followedBlocks } from '../records/books.js'
import {
  configuredPrices,
  formatUsd,
  type NativePrice,
  type PriceSource,
  parseUsd,
} from '../paymaster/policy/price.js'
import { createPrices, createTokenPrices } from '../paymaster/prices/createPrices.js'
import { createUsdPrice } from '../paymaster/prices/usdPrice.js'
import { createSponsor } from '../paymaster/sponsor.js'
import type { SponsoredStep } from '../paymaster/sponsorship.js'
import { complete, withSignature } from '../paymaster/sponsoredDraft.js'
import { defaultTerms } from '../paymaster/sponsorshipTerms.js'
import { readBalanceChanges, simulateAssets } from '../simulation/simulateAssets.js'
import type { OperationTraces } from '../telemetry/traces/operationTraces.js'
import type { ChainParts, OpenChain } from './openChain.js'
import { witnessesOn } from './witnessesOn.js'

/** Seconds for which a token's price is used again. */
const PRICE_SECONDS = 15

type OwnServices = Omit<ChainServices, 'admit' | 'debug' | 'reads'> &
  Pick<ReturnType<typeof runsOn>, 'witnesses'> &
  Pick<Mempool, 'admit'> & {
    /** The parts of those who wait for operations. */
    readonly news: Omit<OperationNews, 'follow'>
    /** The sizes of bundle that operations are priced for. */
    readonly sizes: ExpectedSizes
  }

/**
 * The services of an open chain that answer the API, except those of its bundler and its reads.
 * @param wakeBundler as in MempoolContext
 */
export function serveChain(
  chain: OpenChain,
  { config, client, approver, traces, database, masterKey }: ChainParts,
  wakeBundler?: () => boolean,
): OwnServices {
  const { definition, entryPoints, node, heads, engine, metrics, logger } = chain
  const { chainId } = definition
  const sizes = createBundleSizes(database, definition)
  const fees = () => adviseFees(node, heads.current(), definition)
  const dataPrice = () => dataPriceAt(node, definition.dataFee, heads.current())
  const estimateOnChain = estimatesOf(chain, { sizes, fees, dataPrice })
  const mempool = createMempool({ ...chain, database, sizes, ...(wakeBundler && { wakeBundler }) })
  const tokenRates = createPrices({
    node,
    client,
    sequencer: definition.sequencerFeed,
    maxAge: PRICE_SECONDS,
    now: () => Math.max(heads.current().timestamp, unixNow()),
  })
  const configured = nativeUsdOf(config)
  const usdPrice = createUsdPrice(tokenRates, definition.usdPrice, () => configured(chainId))
  const paymaster = {
    database,
    masterKey,
    node,
    heads,
    definition,
    logger,
    fees,
    estimate: estimateOnChain,
    foresee: engine.foresee,
    metrics,
    terms: {
      ...defaultTerms,
      maxDuration: config.maxSponsorshipSeconds,
      prices: usdPrice,
      rulesEnd: () => chain.engine.coming()?.activation,
    },
  }
  const appFees = createAppFees({
    database,
    masterKey,
    node,
    definition,
    fees,
    dataPrice,
    estimate: estimateOnChain,
    bundleSize: async ({ address }) => (await sizes.of(address)).current,
  })
  const onSponsored = timedSponsorship(chain, traces)
  const sponsor = createSponsor({ ...paymaster, approver, onSponsored })
  const views = {
    ...chain,
    database,
    receipts: createReceiptMemory(database, chainId),
  }
  const news = createOperationNews(views)
  const senders = createSenderNews(views, news.follow)
  return {
    chainId,
    name: definition.name,
    explorerUrl: definition.explorerUrl,
    coin: { symbol: definition.nativeCoin, usd: async () => usdTextOf(await usdPrice()) },
    sizes,
    news: {
      ended: (hashes) => {
        news.ended(hashes)
        senders.ended(hashes)
      },
      stop: () => {
        senders.stop()
        news.stop()
      },
    },
    follow: news.follow,
    followSender: senders.followSender,
    entryPoints: new Map(entryPoints.map((entryPoint) => [entryPoint.address, entryPoint])),
    fees: appFees.fees,
    estimate: appFees.estimate,
    admit: timedAdmission(mempool.admit, chain, traces),
    check: mempool.check,
    status: (hash) => operationStatus(views, hash),
    receipt: (hash) => operationReceipt(views, hash),
    preconfirmed: (hash) => preconfirmedReceipt(views, hash),
    byHash: (hash) => operationByHash(views, hash),
    ...runsOn(chain, appFees, database),
    sponsor: sponsor.sponsor,
    stub: sponsor.stub,
    tanks: sponsor.tanks,
    tokens: createTokenPaymaster({ ...paymaster, engine, prices: tokenRates }),
    tokenPrices: createTokenPrices(tokenRates, definition.tokens),
    previewSponsorship: sponsor.preview,
    finalTime: () => finalTimeOn(chain, database),
  }
}

type EstimateParts = {
  readonly sizes: ExpectedSizes
  readonly fees: () => Promise<FeeAdvice>
  readonly dataPrice: () => Promise<DataPrice | undefined>
}

/** The chain's own estimates; `createAppFees` adds what the app's tank needs. */
function estimatesOf(
  { definition, node, engine }: OpenChain,
  { sizes, fees, dataPrice }: EstimateParts,
): Estimating {
  return async (entryPoint, draft, { requester, override }) => {
    // An authorization goes alone (`passAuthorizations`).
    const [shared, advice, price] = await Promise.all([
      draft.authorization ? undefined : sizes.of(entryPoint.address),
      fees(),
      dataPrice(),
      engine.foresee(entryPoint, draft, 'execution'),
    ])
    const { current, ...otherSizes } = shared ?? { current: 1, fewest: 1, most: 1 }
    const context = {
      node,
      engine: engine.by(requester),
      definition,
      advice,
      dataPrice: price,
      ...expectedShare(definition, current),
      otherSizes,
    }
    return estimateOperation(context, entryPoint, draft, override).catch(async (error: unknown) => {
      throw await explainRevert(node, draft, error)
    })
  }
}

/** Runs of operations that are asked for by themselves. */
function runsOn(
  chain: OpenChain,
  appFees: AppFees,
  database: Database,
): Pick<ChainServices, 'neededGas' | 'waterfall' | 'assets' | 'balanceChanges'> & {
  readonly witnesses: ReturnType<typeof witnessesOn>
} {
  return {
    neededGas: neededGasOn(chain),
    waterfall: (entryPoint, charged, requester) =>
      explainCharge({ ...chain, engine: chain.engine.by(requester) }, entryPoint, charged),
    assets: assetsOn(chain, appFees),
    balanceChanges: (holder, assets) => readBalanceChanges(chain.node, holder, assets),
    witnesses: witnessesOn(chain, database),
  }
}

function neededGasOn({ engine, definition }: OpenChain): ChainServices['neededGas'] {
  return async ({ entryPoint, operation, blockHash, requester }) => {
    const past = await engine.by(requester).openPast(entryPoint, operation, blockHash)
    return neededCallGas(past.by(undefined), entryPoint, operation, definition)
  }
}

function assetsOn(
  { node, engine }: OpenChain,
  { estimate }: Pick<AppFees, 'estimate'>,
): ChainServices['assets'] {
  return async (entryPoint, sent, asker) => {
    const draft = withSignature(sent)
    const { callGasLimit, verificationGasLimit, maxFeePerGas, maxPriorityFeePerGas } = draft
    const hasLimits = callGasLimit && verificationGasLimit && maxFeePerGas !== undefined
    const gas = hasLimits
      ? {
          ...draft,
          callGasLimit,
          verificationGasLimit,
          maxFeePerGas,
          maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n,
          preVerificationGas: draft.preVerificationGas ?? 0n,
        }
      : await estimate(entryPoint, draft, asker)
    const op = complete(draft, gas)
    const context = { node, engine: engine.by(asker.requester) }
    return simulateAssets(context, entryPoint, op).catch(async (error: unknown) => {
      throw await explainRevert(node, draft, error)
    })
  }
}

async function finalTimeOn(
  { node, definition: { chainId, finalityDepth } }: OpenChain,
  database: Database,
): Promise<Date | undefined> {
  const [newest] = await followedBlocks(database, chainId, 1)
  const final = newest && newest.number - BigInt(finalityDepth)
  const block = final === undefined || final < 0n ? undefined : await getBlock(node, final)
  return block && new Date(block.timestamp * 1_000)
}

/** Hears of each sponsorship. */
function timedSponsorship(
  { metrics, definition: { chainId } }: OpenChain,
  traces: OperationTraces | undefined,
) {
  return (step: SponsoredStep): void => {
    observeStage(metrics, 'sponsor', step.begin)
    traces?.sponsored({ chainId, ...step })
  }
}

/** Admission that reports each operation that was stored. */
function timedAdmission(
  admit: Mempool['admit'],
  { metrics, definition: { chainId } }: OpenChain,
  traces: OperationTraces | undefined,
): Mempool['admit'] {
  return async (entryPoint, operation, origin) => {
    const begin = Date.now()
    const userOpHash = await admit(entryPoint, operation, origin)
    observeStage(metrics, 'send', begin)
    traces?.admitted({ chainId, userOpHash, appId: origin.appId, begin })
    return userOpHash
  }
}

/** @param begin Unix milliseconds */
function observeStage(metrics: ChainMetrics, stage: 'sponsor' | 'send', begin: number): void {
  metrics.observe('purser_operation_stage_seconds', { stage }, (Date.now() - begin) / 1_000)
}

function usdTextOf(price: NativePrice | undefined): string | undefined {
  return price && formatUsd(price.microUsd).replace(' USD', '')
}

/** The configured USD prices of native tokens. */
function nativeUsdOf({ nativePrices }: ChainParts['config']): PriceSource {
  return configuredPrices(
    new Map(Object.entries(nativePrices).map(([id, usd]) => [Number(id), parseUsd(usd)])),
  )
}
