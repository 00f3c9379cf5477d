import type { ChainReadiness, Readiness } from '../api/services.js'
import type { ExecutorStatus } from '../bundling/executorStatus.js'
import { bundlerLease } from '../bundling/leadBundling.js'
import type { Database } from '../store/database.js'
import { isReachable } from '../store/isReachable.js'
import { findLease } from '../store/leases.js'

/** What a running chain says of itself. */
export type ChainHealth = {
  /** The head's number, and milliseconds since the node last told it. */
  readonly head: () => { readonly number: bigint; readonly age: number }
  /** Milliseconds after which a head counts as stale. */
  readonly staleAfter: number
  /** Does this process bundle for the chain? */
  readonly leads: () => boolean
  /** What the operator should know of how operations are validated; undefined = nothing. */
  readonly trouble: () => string | undefined
  /** The executors, where this process may bundle; asks database and node. */
  readonly executors: () => Promise<readonly ExecutorStatus[]>
}

/** Milliseconds that the database, and the look at executors, may take. */
const PATIENCE = 2_000

/**
 * Is every part that a request needs able to work now, and what is the matter with what is not? That
 * nobody bundles, or that executors rest, is told, but is no reason to send requests elsewhere: what is
 * taken now is bundled later, and no other process has other executors.
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
  return { ready: Object.values(checks).every(Boolean), checks, reasons, chains: details }
}

/**
 * What is to be said of the executors of a chain; undefined: nobody could tell how they do.
 */
export function executorReasons(
  chainId: number,
  executors: readonly ExecutorStatus[] | undefined,
): readonly string[] {
  if (executors === undefined) return [`How the executors of chain ${chainId} do is not known now.`]
  const senders = executors.filter(({ role }) => role === 'executor')
  const stands = senders.length > 0 && senders.every(({ state }) => state === 'resting')
  return [
    ...(stands ? [`All executors of chain ${chainId} rest: nothing new is sent.`] : []),
    ...executors.flatMap(({ address, alarm }) =>
      alarm === undefined ? [] : [`Chain ${chainId}, ${address}: ${alarm}.`],
    ),
  ]
}

/** Anybody may ask how ready we are: answers of the last 2 s are given again. */
export function recently<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let last: { readonly at: number; readonly answer: Promise<Answer> } | undefined
  return () => {
    if (last === undefined || Date.now() - last.at > 2_000) last = { at: Date.now(), answer: ask() }
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
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), PATIENCE)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
