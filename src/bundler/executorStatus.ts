import type { Address, Hex } from 'viem'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { blockParameter, type Head } from '../chain/head.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { readAtHead } from '../chain/nodeReads.js'
import type { BundlingContext } from './bundlingContext.js'
import { openBundles } from './outbox/bundles.js'

/** The state of one executor, or of the treasury. */
export type ExecutorStatus = {
  readonly role: 'executor' | 'treasury'
  readonly address: Address
  /** `paused`: too low a balance to send anything new. */
  readonly state: 'ready' | 'busy' | 'paused'
  /** wei */
  readonly balance: bigint
  /** Transactions whose outcome is not known yet. */
  readonly inFlight: number
  /** Milliseconds since the oldest of them was first signed; undefined when there is none. */
  readonly oldestAge: number | undefined
  /** A sentence on what the operator has to do; undefined when nothing. */
  readonly alert: string | undefined
}

type StatusContext = Pick<
  BundlingContext,
  'definition' | 'database' | 'node' | 'signers' | 'treasury'
>

/** The state of all executors and the treasury at `head`: one query, one batch to the node. */
export async function executorStatus(
  { definition, database, node, signers, treasury }: StatusContext,
  head: Head,
): Promise<readonly ExecutorStatus[]> {
  const roles = new Map<Address, ExecutorStatus['role']>()
  if (treasury) roles.set(treasury.address, 'treasury')
  for (const { address } of signers) roles.set(address, 'executor')
  const [states, open] = await Promise.all([
    readExecutorStates(node, head, [...roles.keys()]),
    openBundles(database, definition.chainId),
  ])
  return [...roles].map(([address, role]) => {
    const bundles = open.filter(({ executor }) => executor === address)
    const { balance = 0n } = states.get(address) ?? {}
    const alert = balanceAlert(role, balance, definition)
    const ages = bundles.map(({ attempts: [first] }) => first.age)
    return {
      role,
      address,
      balance,
      inFlight: bundles.length,
      alert,
      state: alert !== undefined ? 'paused' : bundles.length > 0 ? 'busy' : 'ready',
      oldestAge: ages.length > 0 ? Math.max(...ages) : undefined,
    }
  })
}

/** The alert that a balance raises; undefined where it is high enough. */
export function balanceAlert(
  role: ExecutorStatus['role'],
  balance: bigint,
  { executorMinBalance, treasury }: Pick<ChainDefinition, 'executorMinBalance' | 'treasury'>,
): string | undefined {
  const needed = role === 'treasury' ? (treasury?.refillTo ?? 0n) : executorMinBalance
  if (balance >= needed && balance > 0n) return undefined
  return role === 'treasury'
    ? `the treasury has ${balance} wei, not enough to refill one executor (${needed}): fund it`
    : `the executor has ${balance} wei and is paused below ${needed}: fund it`
}

/** The nonce and balance of an executor or the treasury at one head. */
export type ExecutorState = {
  readonly address: Address
  /** The next nonce in the chain. */
  readonly mined: bigint
  /** wei */
  readonly balance: bigint
}

/** States of `addresses` at `head`, in one batch. Node trouble is thrown. */
export async function readExecutorStates(
  node: NodeClient,
  head: Head,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, ExecutorState>> {
  if (addresses.length === 0) return new Map()
  const values = await readAtHead(head, async (block) => {
    const at = blockParameter(block)
    const answers = await node.batch(
      addresses.flatMap((address) => [
        { method: 'eth_getTransactionCount', params: [address, at] },
        { method: 'eth_getBalance', params: [address, at] },
      ]),
    )
    return answers.map((answer) => {
      if (!answer.ok) throw answer.error
      return BigInt(answer.result as Hex)
    })
  })
  return new Map(
    addresses.map((address, i) => [
      address,
      { address, mined: values[2 * i] ?? 0n, balance: values[2 * i + 1] ?? 0n },
    ]),
  )
}
