import type { ChainReadiness, Readiness } from '../api/services.js'
import type { ExecutorStatus } from '../bundling/executorStatus.js'
import { bundlerLease } from '../bundling/leadBundling.js'
import type { Database } from '../store/database.js'
import { isReachable } from '../store/isReachable.js'
import { findLease } from '../store/leases.js'

/** The parts of a running chain that tell its state. */
export type ChainHealth = {
  /** The head's number, and milliseconds since the node last reported it. */
  readonly head: () => { readonly number: bigint; readonly age: number }
  /** Milliseconds after which a head counts as stale. */
  readonly staleAfter: number
  /** Whether this process bundles for the chain. */
  readonly leads: () => boolean
  /** A problem of validation that the operator should know; undefined where there is none. */
  readonly trouble: () => string | undefined
  /** The states of the executors, read from database and node. */
  readonly executors: () => Promise<readonly ExecutorStatus[]>
}

/** Milliseconds that the database, and reading the executors, may take. */
const TIMEOUT = 2_000

/**
 * The readiness of every part that a request needs, with a reason for each part that cannot work now. A
 * chain without bundler, or resting executors, are among the reasons but do not make the process
 * unready: operations that are taken now are bundled later, and no other process has other executors.
 */
export async function checkReadiness(
  database: Database,
  chains: ReadonlyMap<number, ChainHealth>,
  draining: boolean,
): Promise<Readiness> {
  const reachable = await within(isReachable(database), false)
  const checks: Record<string, boolean> = { serving: !draining, database: reachable }
  const reasons: string[] = []
  if (draining) reasons.push('This process is stopping.')
  if (!reachable) reasons.push('The database does not answer.')
  const alarms: string[] = []
  const details: Record<string, ChainReadiness> = {}
  for (const [chainId, chain] of chains) {
    const { head, staleAfter, leads, trouble } = chain
    const { number, age } = head()
    const fresh = age < staleAfter
    checks[`chain ${chainId}`] = fresh
    if (!fresh)
      reasons.push(`The node of chain ${chainId} has told no head for ${Math.round(age / 1000)} s.`)
    const lease = reachable ? await leaseOf(database, chainId) : undefined
    const bundled = leads() || lease === undefined || lease.remaining > 0
    if (!bundled) reasons.push(`Nobody bundles for chain ${chainId}.`)
    const note = trouble()
    if (note !== undefined) reasons.push(`Chain ${chainId}: ${note}.`)
    const executors = reachable && fresh ? await within(executorsOf(chain), undefined) : []
    reasons.push(...executorReasons(chainId, executors))
    alarms.push(...executorAlarms(chainId, executors ?? []))
    details[chainId] = {
      head: Number(number),
      headAge: age,
      bundlesHere: leads(),
      bundled,
      executors: (executors ?? []).map(({ role, address, state, balance, inFlight }) => ({
        role,
        address,
        state,
        inFlight,
        balance: String(balance),
      })),
    }
  }
  return { ready: Object.values(checks).every(Boolean), checks, reasons, alarms, chains: details }
}

/** The reasons that the executors of a chain give; `executors` is undefined where they are not known. */
export function executorReasons(
  chainId: number,
  executors: readonly ExecutorStatus[] | undefined,
): readonly string[] {
  if (executors === undefined) return [`How the executors of chain ${chainId} do is not known now.`]
  const senders = executors.filter(({ role }) => role === 'executor')
  const allRest = senders.length > 0 && senders.every(({ state }) => state === 'resting')
  return allRest ? [`All executors of chain ${chainId} rest: nothing new is sent.`] : []
}

/** The needs of executors and treasury, by address. */
export function executorAlarms(
  chainId: number,
  executors: readonly ExecutorStatus[],
): readonly string[] {
  return executors.flatMap(({ address, alarm }) =>
    alarm === undefined ? [] : [`Chain ${chainId}, ${address}: ${alarm}.`],
  )
}

/** The answer of `read`, or one that is at most 2 s old: everybody may ask for the readiness. */
export function recently<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let last: { readonly at: number; readonly answer: Promise<Answer> } | undefined
  return () => {
    if (last === undefined || Date.now() - last.at > 2_000)
      last = { at: Date.now(), answer: read() }
    return last.answer
  }
}

function executorsOf({ executors }: ChainHealth) {
  return executors().catch(() => undefined)
}

function leaseOf(database: Database, chainId: number) {
  return findLease(database, bundlerLease(chainId)).catch(() => undefined)
}

async function within<Answer>(answer: Promise<Answer>, otherwise: Answer): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), TIMEOUT)
  })
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
