import { type Address, encodeFunctionData, type Hex, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type HeadFollower, startHeadFollower } from '../../../src/chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../../../src/chain/nodeClient.js'
import { createStateProvider, type StateProvider } from '../../../src/chain/stateProvider.js'
import { DETERMINISTIC_DEPLOYER, deployment } from '../../../src/contracts/deployments.js'
import { anvilClient } from '../../../src/devnet/anvilClient.js'
import { type AccountCall, keyFromSeed } from '../../../src/devnet/simpleAccount.js'
import { DELEGATION_MARKER } from '../../../src/entrypoint/delegation.js'
import type { OperationOutcome, Version } from '../../../src/entrypoint/entryPoint.js'
import type { Operation } from '../../../src/entrypoint/operation.js'
import { createInProcessEngine } from '../../../src/validation/inProcess/inProcessEngine.js'
import { silent } from '../logger.js'
import { simulations } from '../simulations.js'
import { lower, openTankChain, type RunningNode } from '../tanks/tankChain.js'
import { contracts } from './v06Contracts.js'

/** The state of an operation's sender before it is sent. */
export type SenderKind = 'deployed' | 'counterfactual' | 'delegated'

/** Senders that exist with the accounts of this version. */
export function senderKinds(version: Version): readonly SenderKind[] {
  return version >= '0.8'
    ? ['deployed', 'counterfactual', 'delegated']
    : ['deployed', 'counterfactual']
}

/** A state provider and an engine of their own on the chain's node; what they ask is counted. */
export type TestEngine = ReturnType<typeof createInProcessEngine> & {
  readonly state: StateProvider
  readonly node: NodeClient
  readonly heads: HeadFollower
  /** Calls in each batch sent since it was last asked. */
  batches(): number[]
  close(): Promise<void>
}

export async function openEngine(rpcUrl: string, chainId: number): Promise<TestEngine> {
  const node = createNodeClient({ urls: [rpcUrl], logger: silent })
  const definition = { chainId, pollInterval: 60_000 }
  const heads = await startHeadFollower({ node, definition, logger: silent })
  const sent: number[] = []
  const onBatch = (calls: number) => sent.push(calls)
  const state = await createStateProvider({ node, heads, chainId, onBatch })
  return {
    ...createInProcessEngine({ state, simulations }),
    state,
    node,
    heads,
    batches: () => sent.splice(0),
    async close() {
      state.stop()
      heads.stop()
      await node.close()
    },
  }
}

/** A chain with the EntryPoint of `version`, accounts of every kind and an engine; maybe one that runs. */
export async function openEngineChain(
  version: Version,
  running?: { readonly anvil: RunningNode },
  chainId?: number,
) {
  const chain = await openTankChain(version, chainId, running?.anvil)
  const tester = anvilClient(chain.anvil.rpcUrl)
  const { nodeUrl = chain.anvil.rpcUrl } = chain.anvil
  const engine = await openEngine(nodeUrl, chain.chainId)
  const { entryPoint } = chain

  const deploy = async (code: Hex): Promise<Address> => {
    const { address, deployData } = deployment(code)
    await chain.transact(DETERMINISTIC_DEPLOYER, deployData)
    return address
  }
  const target = await deploy(contracts.Target!.bytecode)
  const delegate = chain.delegates[version]
  const executor = lower(chain.wallet.account.address)

  const fund = (address: Address, wei = parseEther('1')) =>
    tester.setBalance({ address, value: wei })

  /** An unsigned operation of a fresh sender of this kind, without funds. */
  const draft = async (kind: SenderKind, seed: string, call?: AccountCall): Promise<Operation> => {
    if (kind === 'delegated') return delegated(await chain.draft(seed, call), seed)
    const op = await chain.draft(seed, call)
    if (kind === 'counterfactual') return op
    if (op.factory) await create(op, seed)
    return chain.draft(seed, call)
  }

  /** By an operation of its own: factories of v0.8 and later serve the EntryPoint only. */
  async function create(op: Operation, seed: string): Promise<void> {
    const cost = entryPoint.requiredPrefund(op)
    await chain.deposit(op.sender, cost)
    const creating = await chain.sign({ ...op, callData: '0x' }, seed)
    const [outcome] = await chain.handleOps([creating])
    if (!outcome?.success) throw new Error(`${op.sender} was not created`)
  }

  async function delegated(op: Operation, seed: string): Promise<Operation> {
    if (delegate === undefined) throw new Error(`no account delegates in v${version}`)
    const owner = privateKeyToAccount(keyFromSeed(seed))
    const nonce = await tester.getTransactionCount({ address: owner.address })
    const tuple = { address: delegate, chainId: chain.chainId, nonce }
    const signed = await owner.signAuthorization(tuple)
    return {
      ...op,
      sender: lower(owner.address),
      factory: DELEGATION_MARKER,
      factoryData: '0x',
      authorization: { ...signed, nonce: BigInt(nonce), yParity: signed.yParity as 0 | 1 },
    }
  }

  /** Sends the operation alone, with what it needs of gas; the receipt's outcome and its trace. */
  const send = async (op: Operation, gas = 10_000_000n) => {
    const authorizationList = op.authorization && [
      { ...op.authorization, nonce: Number(op.authorization.nonce) },
    ]
    const hash = await chain.wallet.sendTransaction({
      to: entryPoint.address,
      data: entryPoint.encodeHandleOps([op], executor),
      gas,
      ...(authorizationList && { authorizationList }),
    })
    const receipt = await chain.wallet.waitForTransactionReceipt({ hash })
    await engine.heads.refresh()
    const [outcome] = entryPoint.decodeOutcomes(receipt.logs)
    return { hash, receipt, outcome: outcome as OperationOutcome | undefined }
  }

  /** `body` on the chain as it is; afterwards the chain is as before. */
  const undone = async <T>(body: () => Promise<T>): Promise<T> => {
    const id = await tester.snapshot()
    try {
      return await body()
    } finally {
      await tester.revert({ id })
      await engine.heads.refresh()
    }
  }

  return {
    ...chain,
    tester,
    engine,
    executor,
    target,
    deploy,
    fund,
    draft,
    send,
    undone,
    onTarget: (functionName: string, ...args: unknown[]): AccountCall => ({
      to: target,
      data: encodeFunctionData({ abi: contracts.Target!.abi, functionName, args }),
    }),
    async close() {
      await engine.close()
      if (running === undefined) await chain.anvil.stop()
    },
  }
}

export type EngineChain = Awaited<ReturnType<typeof openEngineChain>>
