import type { Address, Hex } from 'viem'
import type { BundlingContext } from '../../../src/bundling/bundlingContext.js'
import { createReceiptMemory } from '../../../src/bundling/createReceiptMemory.js'
import { operationReceipt } from '../../../src/bundling/operationReceipt.js'
import { followChain } from '../../../src/bundling/send/followChain.js'
import { sendBundles } from '../../../src/bundling/send/sendBundles.js'
import type { ViewContext } from '../../../src/bundling/viewContext.js'
import type { ChainDefinition } from '../../../src/chain/definition/chainDefinition.js'
import { adviseFees } from '../../../src/chain/fees.js'
import { tankFactoryAddress } from '../../../src/contracts/deployments.js'
import { type AnvilClient, anvilClient } from '../../../src/devnet/anvilClient.js'
import { launchAnvil } from '../../../src/devnet/anvilProcess.js'
import { devKey } from '../../../src/devnet/devKeys.js'
import { endProcess } from '../../../src/devnet/processIdentity.js'
import type { Draft } from '../../../src/entrypoint/draft.js'
import type { EntryPoint, Version } from '../../../src/entrypoint/entryPoint.js'
import type { Operation } from '../../../src/entrypoint/operation.js'
import { dataPriceAt } from '../../../src/gas/dataPriceAt.js'
import { type EstimateContext, estimateOperation } from '../../../src/gas/estimateOperation.js'
import type { GasEstimate } from '../../../src/gas/gasEstimate.js'
import { expectedShare } from '../../../src/gas/preVerificationGas.js'
import { createBundleSizes } from '../../../src/mempool/createBundleSizes.js'
import { createMempool, type Mempool } from '../../../src/mempool/createMempool.js'
import { openSigners } from '../../../src/signing/openSigner.js'
import type { Database } from '../../../src/store/database.js'
import { openBundles } from '../../../src/store/outbox/bundles.js'
import { findOperation } from '../../../src/store/pool/operations.js'
import { ruleSettings } from '../../../src/validation/ruleSettings.js'
import { createApp } from '../database/createApp.js'
import { silent } from '../logger.js'
import type { NodeKind } from '../nodes/nodeKind.js'
import { startNode } from '../nodes/startNode.js'
import { VERSIONS } from '../tanks/tankChain.js'
import { until } from '../until.js'
import { type EngineChain, openEngineChain } from './engineChain.js'
import type { HttpNode } from './httpNode.js'
import { openRelay } from './openRelay.js'

let chainIds = 60_000

/** An anvil with arguments of the test's own or another node, and what it does before anything else. */
type ChainLaunch = {
  readonly args?: readonly string[]
  readonly kind?: NodeKind
  readonly prepare?: (tester: AnvilClient) => Promise<void>
  /** A node in front of anvil, which the service asks instead. */
  readonly front?: (rpcUrl: string) => Promise<HttpNode>
}

async function launchChain(
  chainId: number,
  { args = [], kind = 'anvil', prepare, front }: ChainLaunch,
) {
  if (kind !== 'anvil') {
    const node = await startNode(chainId, kind)
    await prepare?.(anvilClient(node.rpcUrl))
    return { anvil: node }
  }
  const anvil = await launchAnvil(['--chain-id', String(chainId), ...args], 0, () => {})
  const rpcUrl = `http://127.0.0.1:${anvil.port}`
  await prepare?.(anvilClient(rpcUrl))
  const before = await front?.(rpcUrl)
  const stop = async () => {
    await before?.stop()
    await endProcess(anvil)
  }
  return { anvil: { rpcUrl: before?.url ?? rpcUrl, pid: anvil.pid, stop } }
}

/**
 * Estimates, admission and bundling of every EntryPoint version on one chain, as the service wires
 * them; nothing runs by itself. `launch`: for a chain that is not a plain one.
 */
export async function startMixedBundling(
  database: Database,
  changes: Partial<ChainDefinition> = {},
  launch?: ChainLaunch,
) {
  const ownId = ++chainIds
  const running = launch && (await launchChain(ownId, launch))
  const first = await openEngineChain('0.6', running, ownId)
  const rest: EngineChain[] = []
  for (const version of VERSIONS.slice(1)) {
    rest.push(await openEngineChain(version, first, first.chainId))
  }
  const chains = Object.fromEntries(
    [first, ...rest].map((chain) => [chain.version, chain]),
  ) as Record<Version, EngineChain>
  const { engine, chainId, tester } = first
  const { node, heads } = engine
  const entryPoints = [first, ...rest].map(({ entryPoint }) => entryPoint)
  const definition: ChainDefinition = {
    chainId,
    name: 'test',
    rpcUrls: [first.anvil.rpcUrl],
    entryPoints: entryPoints.map(({ version, address }) => ({ version, address })),
    tankFactory: tankFactoryAddress.address,
    executorKeys: [devKey(1)],
    executorMinBalance: 0n,
    maxBundlesPerExecutor: 1,
    treasury: undefined,
    beneficiary: undefined,
    pollInterval: 3_600_000,
    maxBundleGas: 16_777_216n,
    maxBundleBytes: 117_964,
    expectedBundleSize: 1,
    maxBundleWait: 10_000,
    maxVerificationGas: 5_000_000n,
    resubmitAfter: 3_600_000,
    finalityDepth: 32,
    logRange: 1_000,
    nodeMethods: false,
    maxOperationsPerSender: 4,
    maxOperationsPerApp: 1_000,
    maxOperations: 1_000,
    maxPoolAge: 86_400,
    rules: 'full',
    validationEngine: 'auto',
    comparedShare: 0.01,
    limitProfile: 'lenient',
    minimumStake: 1n,
    minimumUnstakeDelay: 1,
    tokens: [],
    priceMaxAge: 15,
    strikeSeconds: 86_400,
    ...changes,
  }
  const sizes = createBundleSizes(database, definition)
  const executors = await openSigners(definition.executorKeys, definition.transactionType)
  const context: BundlingContext & ViewContext = {
    definition,
    entryPoints,
    database,
    node,
    heads,
    engine,
    receipts: createReceiptMemory(database, definition.chainId),
    rules: ruleSettings(definition),
    signers: executors,
    treasury: undefined,
    relay: openRelay(definition, node),
    logger: silent,
  }
  const mempool: Mempool = createMempool({
    ...context,
    engine,
    heads,
    onRulesChecked: () => {},
    sizes,
  })
  const appId = await createApp(database)

  /** One bundling round at the chain's newest head, under other settings for once. */
  const roundAs = async (other: Partial<ChainDefinition>): Promise<void> => {
    const head = await heads.refresh()
    const changed = { ...context, definition: { ...definition, ...other } }
    const followed = await followChain(changed, head)
    if (followed) await sendBundles(changed, followed, { turn: 0, freshHead: true })
  }
  const round = () => roundAs({})
  await round()

  return {
    anvil: first.anvil,
    tester,
    chains,
    chainId,
    definition,
    heads,
    context,
    executors,
    sizes,
    appId,
    round,
    roundAs,
    estimate: async (entryPoint: EntryPoint, draft: Draft): Promise<GasEstimate> => {
      const head = await heads.refresh()
      const advice = await adviseFees(node, head, definition)
      const dataPrice = await dataPriceAt(node, definition.dataFee, head)
      const { current, ...otherSizes } = await sizes.of(entryPoint.address)
      const share = { ...expectedShare(definition, current), otherSizes }
      const estimating: EstimateContext = { node, engine, definition, advice, dataPrice, ...share }
      return estimateOperation(estimating, entryPoint, draft)
    },
    admit: async (entryPoint: EntryPoint, op: Operation): Promise<Hex> => {
      await heads.refresh()
      return mempool.admit(entryPoint, op, { appId, simulateExecution: false })
    },
    /** Rounds until nothing is in flight. */
    settle: () =>
      until(async () => {
        await round()
        return (await openBundles(database, chainId)).length === 0
      }).then(() => undefined),
    stored: async (hash: Hex) => {
      const operation = await findOperation(database, chainId, hash)
      if (!operation) throw new Error(`operation ${hash} is not stored`)
      return operation
    },
    receipt: async (hash: Hex) => {
      const receipt = await operationReceipt(context, hash)
      if (!receipt) throw new Error(`operation ${hash} has no receipt`)
      return receipt
    },
    balanceOf: (address: Address): Promise<bigint> => tester.getBalance({ address }),
    async stop() {
      await context.relay?.close()
      for (const chain of rest) await chain.close()
      await first.close()
      await running?.anvil.stop()
    },
  }
}

export type MixedBundling = Awaited<ReturnType<typeof startMixedBundling>>
