import type { Address } from 'viem'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Head } from '../chain/head.js'
import { openBundles } from '../store/outbox/bundles.js'
import type { BundlingContext } from './bundlingContext.js'
import { readExecutorStates } from './send/executorStates.js'

/** The state of one executor, or of the treasury. */
export type ExecutorStatus = {
  readonly role: 'executor' | 'treasury'
  readonly address: Address
  /** `resting`: too little money to send anything new. */
  readonly state: 'ready' | 'busy' | 'resting'
  /** wei */
  readonly balance: bigint
  /** Transactions whose outcome is not known yet. */
  readonly inFlight: number
  /** Milliseconds since the oldest of them was first signed; undefined when there is none. */
  readonly oldestAge: number | undefined
  /** A sentence on what the operator has to do; undefined when nothing. */
  readonly alarm: string | undefined
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
    const alarm = balanceAlarm(role, balance, definition)
    const ages = bundles.map(({ attempts: [first] }) => first.age)
    return {
      role,
      address,
      balance,
      inFlight: bundles.length,
      alarm,
      state: alarm !== undefined ? 'resting' : bundles.length > 0 ? 'busy' : 'ready',
      oldestAge: ages.length > 0 ? Math.max(...ages) : undefined,
    }
  })
}

/** The alarm that a balance raises; undefined where it is high enough. */
export function balanceAlarm(
  role: ExecutorStatus['role'],
  balance: bigint,
  { executorMinBalance, treasury }: Pick<ChainDefinition, 'executorMinBalance' | 'treasury'>,
): string | undefined {
  const needed = role === 'treasury' ? (treasury?.refillTo ?? 0n) : executorMinBalance
  if (balance >= needed && balance > 0n) return undefined
  return role === 'treasury'
    ? `the treasury has ${balance} wei, not enough to refill one executor (${needed}): send it money`
    : `the executor has ${balance} wei and rests below ${needed}: send it money`
}
