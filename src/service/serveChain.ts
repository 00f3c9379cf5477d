import type { ChainServices } from '../api/services.js'
import { unixNow } from '../base/unixNow.js'
import { createReceiptMemory } from '../bundling/createReceiptMemory.js'
import { operationByHash } from '../bundling/operationByHash.js'
import { operationReceipt } from '../bundling/operationReceipt.js'
import { operationStatus } from '../bundling/operationStatus.js'
import { createPendingBlock } from '../bundling/pendingBlock.js'
import { preconfirmedReceipt } from '../bundling/preconfirmation.js'
import { adviseFees } from '../chain/fees.js'
import type { StateOverride } from '../chain/stateOverride.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { dataPriceAt } from '../gas/dataPriceAt.js'
import { estimateOperation } from '../gas/estimateOperation.js'
import { expectedShare } from '../gas/preVerificationGas.js'
import { createBundleSizes } from '../mempool/createBundleSizes.js'
import { createMempool } from '../mempool/createMempool.js'
import { createAppFees } from '../paymaster/appFees.js'
import { createTokenPaymaster } from '../paymaster/createTokenPaymaster.js'
import { explainRevert } from '../paymaster/explainRevert.js'
import { createSponsor } from '../paymaster/sponsor.js'
import type { SponsoredStep } from '../paymaster/sponsorship.js'
import { defaultTerms } from '../paymaster/sponsorshipTerms.js'
import { configuredPrices, type PriceSource, parseUsd } from '../policy/price.js'
import { createPrices } from '../prices/createPrices.js'
import { createTokenPrices } from '../prices/tokenPrices.js'
import type { OperationTraces } from '../traces/operationTraces.js'
import type { ChainParts } from './chainParts.js'
import type { OpenChain } from './openChain.js'

/** The services of an open chain that answer the API, except those of its bundler and its reads. */
export function serveChain(
  chain: OpenChain,
  { config, client, approver, metrics, traces, database, masterKey }: ChainParts,
): Omit<ChainServices, 'debug' | 'reads'> {
  const { definition, entryPoints, node, heads, engine, logger } = chain
  const { chainId } = definition
  const sizes = createBundleSizes(database, definition)
  const share = (bundleSize: number) => expectedShare(definition, bundleSize)
  const fees = () => adviseFees(node, heads.current(), definition)
  const dataPrice = () => dataPriceAt(node, definition.dataFee, heads.current())
  const estimate = async (entryPoint: EntryPoint, draft: Draft, override?: StateOverride) => {
    const { current, ...otherSizes } = await sizes.of(entryPoint.address)
    return estimateOperation(
      {
        node,
        engine,
        definition,
        advice: await fees(),
        dataPrice: await dataPrice(),
        ...share(current),
        otherSizes,
      },
      entryPoint,
      draft,
      override,
    ).catch(async (error: unknown) => {
      throw await explainRevert(node, draft, error)
    })
  }
  const mempool = createMempool({
    definition,
    database,
    node,
    heads,
    engine,
    logger,
    sizes,
    onRulesChecked: (how) => metrics.rulesChecked(chainId, how),
  })
  const nativeUsd = nativeUsdOf(config)
  const tokenRates = createPrices({
    node,
    client,
    sequencer: definition.sequencerFeed,
    maxAge: definition.priceMaxAge,
    now: () => Math.max(heads.current().timestamp, unixNow()),
  })
  const paymaster = {
    database,
    masterKey,
    node,
    heads,
    definition,
    logger,
    fees,
    estimate,
    onDecided: (code: string) => metrics.decided(chainId, code),
    terms: {
      ...defaultTerms,
      minDuration: config.minSponsorshipSeconds,
      maxDuration: config.maxSponsorshipSeconds,
      prices: nativeUsd,
    },
  }
  const onSponsored = traces && ((step: SponsoredStep) => traces.sponsored({ chainId, ...step }))
  const sponsor = createSponsor({ ...paymaster, approver, onSponsored })
  const receipts = createReceiptMemory(database, chainId)
  const pending = definition.preconfirmations ? createPendingBlock(node) : undefined
  const views = { definition, entryPoints, database, node, heads, receipts, logger, pending }
  return {
    chainId,
    entryPoints: new Map(entryPoints.map((entryPoint) => [entryPoint.address, entryPoint])),
    ...createAppFees({
      database,
      masterKey,
      node,
      definition,
      fees,
      dataPrice,
      estimate,
      bundleSize: async ({ address }) => (await sizes.of(address)).current,
    }),
    admit: traces ? tracedAdmission(mempool.admit, chainId, traces) : mempool.admit,
    check: mempool.check,
    status: (hash) => operationStatus(views, hash),
    receipt: (hash) => operationReceipt(views, hash),
    preconfirmed: (hash) => preconfirmedReceipt(views, hash),
    byHash: (hash) => operationByHash(views, hash),
    sponsor: sponsor.sponsor,
    stub: sponsor.stub,
    tanks: sponsor.tanks,
    tokens: createTokenPaymaster({ ...paymaster, engine, prices: tokenRates }),
    tokenPrices: createTokenPrices(tokenRates, definition.tokens),
    previewSponsorship: sponsor.preview,
  }
}

/** Admission that tells each operation that was stored. */
function tracedAdmission(
  admit: ChainServices['admit'],
  chainId: number,
  traces: OperationTraces,
): ChainServices['admit'] {
  return async (entryPoint, operation, origin) => {
    const begin = Date.now()
    const userOpHash = await admit(entryPoint, operation, origin)
    traces.admitted({ chainId, userOpHash, appId: origin.appId, begin })
    return userOpHash
  }
}

/** The configured USD prices of native tokens. */
function nativeUsdOf({ nativePrices }: ChainParts['config']): PriceSource {
  return configuredPrices(
    new Map(Object.entries(nativePrices).map(([id, usd]) => [Number(id), parseUsd(usd)])),
  )
}
