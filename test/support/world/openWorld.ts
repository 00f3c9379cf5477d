import { randomBytes } from 'node:crypto'
import { type Address, type Hex, numberToHex, type TransactionReceipt } from 'viem'
import { createOutboundClient } from '../../../src/base/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../../src/base/outbound/networkGuard.js'
import type { BundlingContext } from '../../../src/bundler/bundlingContext.js'
import type {
  OperationReceipt,
  OperationStatus,
  ViewContext,
} from '../../../src/bundler/operationViews.js'
import { createReceiptMemory } from '../../../src/bundler/operationViews.js'
import { openBundles, rawTransaction } from '../../../src/bundler/outbox/bundles.js'
import { followChain, keepLanes } from '../../../src/bundler/send/followChain.js'
import { sendBundles } from '../../../src/bundler/send/sendBundles.js'
import { tankFactoryAddress } from '../../../src/chain/contracts/deployments.js'
import type { ChainDefinition } from '../../../src/chain/definition/chainDefinition.js'
import type { ExecutorSigner } from '../../../src/chain/signing/executorTransaction.js'
import { anvilClient } from '../../../src/cli/devnet/anvilClient.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import type { Database } from '../../../src/db/database.js'
import type { Draft } from '../../../src/erc4337/draft.js'
import type { EntryPoint, OperationOutcome } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { GasEstimate } from '../../../src/gas/estimateOperation.js'
import { findOperation, type StoredOperation } from '../../../src/mempool/pool/operations.js'
import type { SponsorshipRequest, SponsorshipResult } from '../../../src/paymaster/sponsorship.js'
import { bundlingContext, openRelay } from '../../../src/service/bundleChain.js'
import { type ChainParts, openChain } from '../../../src/service/openChain.js'
import { serveChain } from '../../../src/service/serveChain.js'
import { createMetrics } from '../../../src/telemetry/createMetrics.js'
import { createApprover } from '../../../src/webhooks/approve.js'
import type { HttpNode } from '../chain/httpNode.js'
import type { Receipt } from '../chain/startAnvil.js'
import { createApp } from '../database/createApp.js'
import { silent } from '../logger.js'
import { simulations } from '../simulations.js'
import { until } from '../until.js'
import { type DeployedNode, launchNode, type NodeSettings, versionsOn } from './ground.js'
import { settableAccounts } from './settableAccounts.js'
import { sponsoringActs } from './sponsoring.js'
import { lower } from './versionChain.js'

/** The first accounts of a development chain that send bundles; 9 pays for what tests send. */
export const executorKeys: readonly Hex[] = [devKey(1), devKey(2)]

/** The settings of a world, where they differ from those of every other. */
export type WorldSettings = NodeSettings & {
  readonly definition?: Partial<ChainDefinition>
  readonly config?: Partial<ChainParts['config']>
  /** A node in front of the chain's own, which the service asks instead. */
  readonly front?: (rpcUrl: string) => Promise<HttpNode>
  /** Whether its tests make bundles lose wei on purpose. */
  readonly losesWei?: boolean
}

let worlds = 0

function definitionOf(
  { anvil, chainId, deployed }: Omit<DeployedNode, 'eyes'>,
  changes: Partial<ChainDefinition>,
): ChainDefinition {
  return {
    chainId,
    name: 'test',
    rpcUrls: [anvil.nodeUrl],
    headsUrl: undefined,
    usdPrice: undefined,
    entryPoints: Object.entries(deployed.entryPoints).map(([version, address]) => ({
      version: version as EntryPoint['version'],
      address,
    })),
    tankFactory: tankFactoryAddress.address,
    executorKeys: executorKeys.slice(0, 1),
    executorMinBalance: 0n,
    maxBundlesPerExecutor: 1,
    treasury: undefined,
    feeCeiling: {},
    beneficiary: undefined,
    // Heads are read and transactions are raised when the test says so.
    pollInterval: 3_600_000,
    resubmitAfter: 3_600_000,
    maxBundleGas: 16_000_000n,
    maxBundleBytes: 100_000,
    sending: { way: 'public' },
    nativeCoin: 'ETH',
    chargedGas: 'used',
    calldataFloor: true,
    dataFee: 'none',
    preconfirmations: false,
    restarts: false,
    replacesCode: false,
    expectedBundleSize: 1,
    maxBundleWait: 10_000,
    maxVerificationGas: 5_000_000n,
    finalityDepth: 32,
    logRange: 1_000,
    nodeMethods: false,
    estimateGas: false,
    sendRawTransaction: false,
    maxOperationsPerSender: 4,
    maxOperationsPerApp: 1_000,
    maxOperations: 1_000,
    maxPoolAge: 86_400,
    // Settable accounts look at the block.
    rules: 'off',
    ruleExceptions: [],
    validationEngine: 'auto',
    minimumStake: 1n,
    minimumUnstakeDelay: 1,
    tokens: [],
    paymentDefaultSeconds: 86_400,
    ...changes,
  }
}

/** The parts that the service's chains share, as startServer makes them. */
function partsOf(
  database: Database,
  config: WorldSettings['config'],
): ChainParts & { readonly metrics: ReturnType<typeof createMetrics> } {
  const masterKey = randomBytes(32)
  const client = createOutboundClient(createNetworkGuard(loopback))
  const metrics = createMetrics()
  return {
    config: {
      role: ['api', 'bundler'],
      debugMethods: false,
      nativePrices: {},
      maxSponsorshipSeconds: 900,
      ...config,
    },
    client,
    approver: createApprover({ database, masterKey, client, metrics }),
    metrics,
    traces: undefined,
    simulations,
    database,
    masterKey,
    alone: true,
    logger: silent,
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>

/**
 * The service of one chain as production composes it, on a real node and a real database, of which nothing runs by itself:
 * tests admit, sponsor, mine, and let one round of bundling run. Each world has its own chain id, so that worlds share a
 * database as chains do in production.
 */
export async function openWorld(database: Database, settings: WorldSettings = {}) {
  const { chainId = settings.definition?.chainId ?? 50_000 + ++worlds, front } = settings
  const node = await launchNode({ ...settings, chainId })
  const before = await front?.(node.anvil.url)
  const tester = before ? anvilClient(before.url) : node.tester
  const changes = { ...(before && { rpcUrls: [before.url] }), ...settings.definition }
  const parts = partsOf(database, settings.config)
  const chain = await openChain(definitionOf(node, changes), parts)
  // Its bundler runs when a test says so, and has not to be woken.
  const services = serveChain(chain, parts, () => true)
  const relay = openRelay(chain)
  const { definition, heads, engine, entryPoints } = chain
  const context: BundlingContext & ViewContext = {
    ...bundlingContext(chain, database, relay),
    heads,
    receipts: createReceiptMemory(database, chainId),
  }
  const appId = await createApp(database)
  const asker = { appId, requester: undefined }
  const at = versionsOn({
    ...node,
    tester,
    eyes: { ...engine.by(undefined), node: chain.node, heads },
  })
  /** The service's own, which knows the rules that its chain has now. */
  const own = (given: EntryPoint) =>
    entryPoints.find(({ address }) => address === given.address) ?? given
  const accounts = settableAccounts(node, { definition, heads, entryPoint: entryPoints[0]! })

  /** One bundling cycle at the chain's newest head, under other settings for once. */
  const roundAs = async (other: Partial<ChainDefinition>): Promise<void> => {
    const changed = { ...context, definition: { ...definition, ...other } }
    const followed = await followChain(changed, await heads.refresh())
    if (!followed) return
    await sendBundles(changed, followed, { turn: 0, freshHead: true })
    await keepLanes(changed, followed)
  }
  const round = () => roundAs({})

  const world = {
    ...node,
    /** Asks the node in front, where there is one. */
    tester,
    ...accounts,
    database,
    definition,
    chain,
    services,
    context,
    heads,
    entryPoint: entryPoints[0]!,
    executors: chain.signers as readonly ExecutorSigner[],
    appId,
    parts,
    ...sponsoringActs(chain, parts),
    at,
    /** @param entryPoint v0.6 unless another one is given */
    async admit(op: Operation, entryPoint: EntryPoint = entryPoints[0]!): Promise<Hex> {
      await heads.refresh()
      return services.admit(own(entryPoint), op, { ...asker, simulateExecution: false })
    },
    async estimate(entryPoint: EntryPoint, draft: Draft): Promise<GasEstimate> {
      await heads.refresh()
      return services.estimate(own(entryPoint), draft, asker)
    },
    /** The decision, and the operation with what the tank's signer signs, at the newest head. */
    async sponsor(request: SponsorshipRequest): Promise<SponsorshipResult> {
      await heads.refresh()
      return services.sponsor(request)
    },
    /** Someone else's bundle with these operations. */
    async carry(ops: readonly Operation[], entryPoint = entryPoints[0]!): Promise<Receipt> {
      const data = entryPoint.encodeHandleOps(ops, node.anvil.account)
      const bundle = { to: entryPoint.address, data, gas: numberToHex(5_000_000) }
      const receipt = await node.anvil.send(bundle)
      if (receipt.status !== '0x1') throw new Error('the bundle of someone else failed')
      return receipt
    },
    round,
    roundAs,
    /** Rounds until nothing is in flight. */
    settle: () =>
      until(async () => {
        await round()
        return (await openBundles(database, chainId)).length === 0
      }).then(() => undefined),
    async mine(blocks = 1): Promise<void> {
      await node.anvil.request('anvil_mine', [numberToHex(blocks)])
      await heads.refresh()
    },
    async setAutomine(isOn: boolean): Promise<void> {
      await node.anvil.request('evm_setAutomine', [isOn])
    },
    openBundles: () => openBundles(database, chainId),
    signedBytes: ({ hash }: { readonly hash: Hex }) => rawTransaction(database, chainId, hash),
    async stored(hash: Hex): Promise<StoredOperation> {
      const operation = await findOperation(database, chainId, hash)
      if (!operation) throw new Error(`operation ${hash} is not stored`)
      return operation
    },
    stateOf: async (hash: Hex) => (await world.stored(hash)).state,
    async receipt(hash: Hex): Promise<OperationReceipt> {
      const receipt = await services.receipt(hash)
      if (!receipt) throw new Error(`operation ${hash} has no receipt`)
      return receipt
    },
    status: (hash: Hex): Promise<OperationStatus | undefined> => services.status(hash),
    /** The outcomes of a mined bundle's operations, by the chain's own logs. */
    outcomesOf({ to, logs }: Pick<TransactionReceipt, 'to' | 'logs'>): readonly OperationOutcome[] {
      const entryPoint = entryPoints.find(({ address }) => address === to)
      const lowered = logs.map((log) => ({ ...log, address: lower(log.address) }))
      return entryPoint?.decodeOutcomes(lowered) ?? []
    },
    balanceOf: (address: Address): Promise<bigint> => tester.getBalance({ address }),
    /** Bundles of this world that were found to have lost wei, or to be in no book. */
    async uncoveredBundles(): Promise<number> {
      const lines = (await parts.metrics.text()).split('\n')
      const counts = lines.filter((line) => line.startsWith('purser_bundles_uncovered_total{'))
      return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    },
    /** Also proves that no test, whatever it was about, made a bundle lose wei by the service's own count. */
    async stop() {
      const uncovered = await world.uncoveredBundles()
      await relay?.close()
      await chain.close()
      parts.client.close()
      await before?.stop()
      await node.anvil.stop()
      if (uncovered > 0 && !settings.losesWei) throw new Error(`${uncovered} bundles lost wei`)
    },
  }
  await round()
  return world
}
