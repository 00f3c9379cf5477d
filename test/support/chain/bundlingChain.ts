import {
  type Address,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  parseEther,
  parseGwei,
} from 'viem'
import type { BundlingContext } from '../../../src/bundling/bundlingContext.js'
import { createReceiptMemory } from '../../../src/bundling/createReceiptMemory.js'
import { operationReceipt } from '../../../src/bundling/operationReceipt.js'
import { operationStatus } from '../../../src/bundling/operationStatus.js'
import type { OperationReceipt, OperationStatus } from '../../../src/bundling/operationViews.js'
import { followChain, keepLanes } from '../../../src/bundling/send/followChain.js'
import { sendBundles } from '../../../src/bundling/send/sendBundles.js'
import type { ViewContext } from '../../../src/bundling/viewContext.js'
import type { ChainDefinition } from '../../../src/chain/definition/chainDefinition.js'
import { type HeadFollower, startHeadFollower } from '../../../src/chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../../../src/chain/nodeClient.js'
import { tankFactoryAddress } from '../../../src/contracts/deployments.js'
import { createEntryPoint } from '../../../src/entrypoint/createEntryPoint.js'
import type { EntryPoint } from '../../../src/entrypoint/entryPoint.js'
import type { Operation } from '../../../src/entrypoint/operation.js'
import { expectedShare, preVerificationGas } from '../../../src/gas/preVerificationGas.js'
import { createBundleSizes } from '../../../src/mempool/createBundleSizes.js'
import { createMempool, type Mempool } from '../../../src/mempool/createMempool.js'
import type { ExecutorSigner } from '../../../src/signing/executorSigner.js'
import { openSigner, openSigners } from '../../../src/signing/openSigner.js'
import type { Database } from '../../../src/store/database.js'
import { openBundles } from '../../../src/store/outbox/bundles.js'
import { findOperation, type StoredOperation } from '../../../src/store/pool/operations.js'
import { createChainEngine } from '../../../src/validation/chainEngine.js'
import type { Engine } from '../../../src/validation/engine.js'
import { createNodeEngine } from '../../../src/validation/node/nodeEngine.js'
import { ruleSettings } from '../../../src/validation/ruleSettings.js'
import { createApp } from '../database/createApp.js'
import { silent } from '../logger.js'
import { simulations } from '../simulations.js'
import { until } from '../until.js'
import { deployEntryPoint } from './entryPointContracts.js'
import { openRelay } from './openRelay.js'
import { settableAccountCode } from './settableAccount.js'
import { type Anvil, type Receipt, startAnvil } from './startAnvil.js'

export const settableAccountAbi = parseAbi([
  'function set(bool refuses, bool refusesOnChain, uint256 validationData)',
  'function touch()',
  'function poke(address other, bytes data)',
  'function fail(string reason)',
  'function spoof(bytes32 userOpHash)',
])

const entryPointAbi = parseAbi([
  'function depositTo(address) payable',
  'function withdrawTo(address, uint256)',
])

export const touch = encodeFunctionData({ abi: settableAccountAbi, functionName: 'touch' })

/** Funded keys of anvil, after the one that tests send with. */
export const executorKeys: readonly Hex[] = [
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
]

/** The behaviour of a settable account; a setting that is left out returns to normal. */
type AccountSettings = {
  /** Validation reverts. */
  readonly refuses?: boolean
  /** Validation reverts in blocks that REFUSED produces, so in no simulation. */
  readonly refusesOnChain?: boolean
  readonly validationData?: bigint
}

/** Admission and bundling over a real chain; nothing runs by itself. */
export type BundlingChain = {
  readonly anvil: Anvil
  readonly entryPoint: EntryPoint
  readonly definition: ChainDefinition
  readonly context: BundlingContext & ViewContext
  readonly heads: HeadFollower
  readonly mempool: Mempool
  readonly executors: readonly ExecutorSigner[]
  readonly appId: string
  /** A new settable account with this deposit in the EntryPoint (wei, default 1 ether). */
  createAccount(deposit?: bigint): Promise<Address>
  configure(account: Address, settings: AccountSettings): Promise<void>
  operation(sender: Address, fields?: Partial<Operation>): Operation
  admit(op: Operation): Promise<Hex>
  /** Someone else's bundle with these operations. */
  carry(ops: readonly Operation[]): Promise<Receipt>
  /** One bundling round at the chain's newest head. */
  round(): Promise<void>
  /** Rounds until nothing is in flight. */
  settle(): Promise<void>
  stored(hash: Hex): Promise<StoredOperation>
  receipt(hash: Hex): Promise<OperationReceipt>
  status(hash: Hex): Promise<OperationStatus | undefined>
  stop(): Promise<void>
}

type Options = {
  readonly args?: readonly string[]
  readonly definition?: Partial<ChainDefinition>
}

let chains = 0
let accounts = 0

/** Without rules nothing but the node's own word. */
async function openEngine(
  definition: ChainDefinition,
  entryPoint: EntryPoint,
  node: NodeClient,
  heads: HeadFollower,
): Promise<{ engine: Engine; close: () => void }> {
  const { chainId, rules, validationEngine: choice, comparedShare } = definition
  if (rules === 'off') return { engine: createNodeEngine({ node }), close: () => {} }
  const context = {
    node,
    heads,
    chainId,
    entryPoints: [entryPoint],
    choice,
    comparedShare,
    rules: ruleSettings(definition),
    simulations,
    logger: silent,
    onValidated: () => {},
    onCompared: () => {},
  }
  const engine = await createChainEngine(context)
  return { engine, close: () => engine.stop() }
}

/** Each chain has its own chain id, so that chains share a database as they do in production. */
export async function startBundlingChain(
  database: Database,
  { args = [], definition: changes = {} }: Options = {},
): Promise<BundlingChain> {
  const chainId = changes.chainId ?? 50_000 + ++chains
  const anvil = await startAnvil(['--chain-id', String(chainId), ...args])
  const entryPoint = createEntryPoint('0.6', await deployEntryPoint(anvil, '0.6'))
  const definition: ChainDefinition = {
    chainId,
    name: 'test',
    rpcUrls: [anvil.url],
    entryPoints: [{ version: '0.6', address: entryPoint.address }],
    tankFactory: tankFactoryAddress.address,
    executorKeys: executorKeys.slice(0, 1),
    executorMinBalance: 0n,
    maxBundlesPerExecutor: 1,
    treasury: undefined,
    beneficiary: undefined,
    pollInterval: 3_600_000,
    maxBundleGas: 16_000_000n,
    maxBundleBytes: 100_000,
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
    // Settable accounts look at the block.
    rules: 'off',
    validationEngine: 'auto',
    comparedShare: 0.01,
    limitProfile: 'lenient',
    minimumStake: 10n ** 18n,
    minimumUnstakeDelay: 86_400,
    tokens: [],
    priceMaxAge: 15,
    strikeSeconds: 86_400,
    ...changes,
  }
  const node = createNodeClient({ urls: [anvil.url], logger: silent })
  const heads = await startHeadFollower({ node, definition, logger: silent })
  const { engine, close } = await openEngine(definition, entryPoint, node, heads)
  const executors = await openSigners(definition.executorKeys)
  const treasury = definition.treasury && (await openSigner(definition.treasury.key))
  const receipts = createReceiptMemory(database, chainId)
  const context = {
    definition,
    entryPoints: [entryPoint],
    database,
    node,
    heads,
    receipts,
    logger: silent,
    engine,
    rules: ruleSettings(definition),
    signers: executors,
    treasury,
    relay: openRelay(definition, node),
  }
  const { expectedBundleSize } = definition
  const sizes = createBundleSizes(database, definition)
  const mempool = createMempool({ ...context, onRulesChecked: () => {}, sizes })
  const appId = await createApp(database)

  const setCode = async (address: Address) => {
    await anvil.request('anvil_setCode', [address, settableAccountCode])
  }
  const round = async () => {
    const followed = await followChain(context, await heads.refresh())
    if (!followed) return
    await sendBundles(context, followed, { turn: 0, freshHead: true })
    await keepLanes(context, followed)
  }
  const chain: BundlingChain = {
    anvil,
    entryPoint,
    definition,
    context,
    heads,
    mempool,
    executors,
    appId,
    async createAccount(deposit = parseEther('1')) {
      const address = numberToHex(0xabc000 + ++accounts, { size: 20 })
      await setCode(address)
      const data = encodeFunctionData({
        abi: entryPointAbi,
        functionName: 'depositTo',
        args: [address],
      })
      await anvil.send({ to: entryPoint.address, data, value: numberToHex(deposit) })
      await heads.refresh()
      return address
    },
    async configure(account, { refuses = false, refusesOnChain = false, validationData = 0n }) {
      const args = [refuses, refusesOnChain, validationData] as const
      await anvil.send({
        to: account,
        data: encodeFunctionData({ abi: settableAccountAbi, functionName: 'set', args }),
      })
      await heads.refresh()
    },
    operation(sender, fields = {}) {
      const op: Operation = {
        sender,
        nonce: 0n,
        factory: undefined,
        factoryData: '0x',
        callData: touch,
        callGasLimit: 60_000n,
        verificationGasLimit: 150_000n,
        preVerificationGas: 0n,
        maxFeePerGas: parseGwei('10'),
        maxPriorityFeePerGas: parseGwei('2'),
        paymaster: undefined,
        paymasterVerificationGasLimit: 0n,
        paymasterPostOpGasLimit: 0n,
        paymasterData: '0x',
        signature: '0x01',
        authorization: undefined,
        ...fields,
      }
      const widest = { ...op, preVerificationGas: 0xffffffn }
      const required = preVerificationGas(entryPoint, widest, {
        ...expectedShare(definition, expectedBundleSize === 'auto' ? 1 : expectedBundleSize),
        verificationGasUsed: 0n,
        contextSize: 0,
      })
      return { ...op, preVerificationGas: fields.preVerificationGas ?? required }
    },
    admit: (op) => mempool.admit(entryPoint, op, { appId, simulateExecution: false }),
    async carry(ops) {
      const data = entryPoint.encodeHandleOps(ops, anvil.account)
      const receipt = await anvil.send({
        to: entryPoint.address,
        data,
        gas: numberToHex(5_000_000),
      })
      if (receipt.status !== '0x1') throw new Error('the bundle of someone else failed')
      return receipt
    },
    round,
    settle: () =>
      until(async () => {
        await round()
        return (await openBundles(database, chainId)).length === 0
      }).then(() => undefined),
    async stored(hash) {
      const operation = await findOperation(database, chainId, hash)
      if (!operation) throw new Error(`operation ${hash} is not stored`)
      return operation
    },
    async receipt(hash) {
      const receipt = await operationReceipt(context, hash)
      if (!receipt) throw new Error(`operation ${hash} has no receipt`)
      return receipt
    },
    status: (hash) => operationStatus(context, hash),
    async stop() {
      close()
      heads.stop()
      await context.relay?.close()
      await node.close()
      await anvil.stop()
    },
  }
  await round()
  return chain
}

/** Takes deposit out of the EntryPoint, as the account's owner would. */
export async function withdraw(
  { anvil, entryPoint, heads }: BundlingChain,
  account: Address,
  amount: bigint,
): Promise<void> {
  const args = [anvil.account, amount] as const
  const data = encodeFunctionData({ abi: entryPointAbi, functionName: 'withdrawTo', args })
  await anvil.request('anvil_impersonateAccount', [account])
  await anvil.request('anvil_setBalance', [account, numberToHex(parseEther('1'))])
  const receipt = await anvil.send({ from: account, to: entryPoint.address, data })
  if (receipt.status !== '0x1') throw new Error('nothing was withdrawn')
  await heads.refresh()
}
