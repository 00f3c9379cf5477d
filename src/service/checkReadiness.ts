import type { ChainReadiness, Readiness, ReadinessQuestion } from '../api/services.js'
import { createRecent } from '../base/createRecent.js'
import type { ExecutorStatus } from '../bundler/executorStatus.js'
import { bundlerLease } from '../bundler/leadBundling.js'
import type { ComingFork } from '../chain/chainRules.js'
import type { NodeState } from '../chain/nodeClient.js'
import type { Database } from '../db/database.js'
import { isReachable } from '../db/isReachable.js'
import { findLease, LEASE_TIME } from '../db/leases.js'
import { storageTrouble } from '../db/storageTrouble.js'
import { isRecordedKey } from '../tenants/masterKey.js'

/** The parts of a running chain that show its state. */
export type ChainHealth = {
  /** The head's number, and milliseconds since the node last reported it. */
  readonly head: () => { readonly number: bigint; readonly age: number }
  /** Milliseconds after which a head counts as stale. */
  readonly staleAfter: number
  /** The nodes as this process knows them. */
  readonly nodes: () => readonly NodeState[]
  /** Whether bundling started in this process for the chain. */
  readonly leads: () => boolean
  /** A problem of validation that the operator should know; undefined where there is none. */
  readonly trouble: () => string | undefined
  /** The rules that the chain announces. */
  readonly coming: () => ComingFork | undefined
  /** Why nothing is sent, see `ceilingWait`; absent where the operator has set no ceiling. */
  readonly ceilingWait?: (() => Promise<string | undefined>) | undefined
  /** The states of the executors, read from database and node. */
  readonly executors: () => Promise<readonly ExecutorStatus[]>
}

/** Milliseconds that the database, and reading the executors, may take. */
const TIMEOUT = 2_000

/** The parts of a process that its readiness depends on. */
type ReadinessParts = {
  readonly database: Database
  /** Those that were started, by id. */
  readonly chains: ReadonlyMap<number, ChainHealth>
  /** Those whose node is away since the start, by id. */
  readonly away: ReadonlyMap<number, string>
  readonly isDraining: boolean
  readonly masterKey: Buffer
  readonly roles: Readiness['roles']
}

/**
 * The readiness of every part that a request needs, with a reason for each part that cannot work now. A
 * process is ready while it serves, its database answers and one chain works: the node of another chain
 * takes that chain away from all processes, and would take away all chains if it made them unready. A chain
 * without bundler, or paused executors, are among the reasons but do not make the process unready:
 * operations that are taken now are bundled later, and no other process has other executors.
 */
export async function checkReadiness(
  parts: ReadinessParts,
  { chainId: askedChain, role }: ReadinessQuestion,
): Promise<Readiness> {
  const { database, chains, away, isDraining, masterKey, roles } = parts
  const [reachable, isKeyRight] = await Promise.all([
    within(isReachable(database), false),
    // Undefined where the database cannot answer now, which is a reason of its own.
    within(isRecordedKey(database, masterKey), undefined),
  ])
  // After the others, whose statements may have met it.
  const trouble = await within(storageTrouble(database), undefined)
  const own = {
    serving: !isDraining,
    [`role ${role}`]: roles.includes(role),
    database: reachable && trouble === undefined,
    'master key': isKeyRight !== false,
  }
  const reasons: string[] = []
  if (isDraining) reasons.push('This process is stopping.')
  if (!roles.includes(role)) reasons.push(otherRole(roles, role))
  if (!reachable) reasons.push('The database does not answer.')
  if (trouble !== undefined) reasons.push(`Database writes are failing: ${trouble}.`)
  if (isKeyRight === false)
    reasons.push('The database has another master key now: restart this process with it.')
  const alerts: string[] = []
  const details: Record<string, ChainReadiness> = {}
  const chainChecks = new Map<number, boolean>()
  for (const chainId of away.keys()) {
    chainChecks.set(chainId, false)
    reasons.push(`Chain ${chainId} is not served yet: its node does not answer, see the log.`)
  }
  // At once: each may take as long as a probe waits.
  const found = await Promise.all(
    [...chains].map(([chainId, chain]) => checkChain(database, chainId, chain, reachable)),
  )
  for (const { chainId, fresh, detail, ...more } of found) {
    chainChecks.set(chainId, fresh)
    reasons.push(...more.reasons)
    alerts.push(...more.alerts)
    details[chainId] = detail
  }
  const works =
    askedChain === undefined
      ? [...chainChecks.values()].some(Boolean)
      : chainChecks.get(askedChain) === true
  const checks = {
    ...own,
    ...Object.fromEntries([...chainChecks].map(([id, isFresh]) => [`chain ${id}`, isFresh])),
  }
  const ready = Object.values(own).every(Boolean) && works
  return { ready, roles, checks, reasons, alerts, chains: details }
}

function otherRole(roles: Readiness['roles'], role: ReadinessQuestion['role']): string {
  return role === 'api'
    ? 'This process only bundles (role bundler), so it is not ready for requests; use ?role=bundler.'
    : `This process does not bundle (role ${roles.join(',')}).`
}

async function checkChain(
  database: Database,
  chainId: number,
  chain: ChainHealth,
  reachable: boolean,
) {
  const { head, staleAfter, nodes, leads, trouble, coming } = chain
  const { number, age } = head()
  const reasons: string[] = []
  const other = otherChains(nodes())
  const fresh = age < staleAfter && other === undefined
  if (other !== undefined) reasons.push(`No node of chain ${chainId} answers: ${other}.`)
  else if (!fresh)
    reasons.push(
      `The node of chain ${chainId} has reported no head for ${Math.round(age / 1000)} s.`,
    )
  const [lease, executors, waits] = await Promise.all([
    reachable
      ? within(findLease(database, bundlerLease(chainId), LEASE_TIME), undefined)
      : undefined,
    reachable && fresh ? within(chain.executors(), undefined) : [],
    fresh ? waitOf(chain) : undefined,
  ])
  const bundled = leads() || lease === undefined || lease.remaining > 0
  if (!bundled) reasons.push(`No process bundles for chain ${chainId}.`)
  const note = trouble()
  if (note !== undefined) reasons.push(`Chain ${chainId}: ${note}.`)
  const next = coming()
  if (next !== undefined) {
    const at = new Date(next.activation * 1_000).toISOString()
    reasons.push(
      `Chain ${chainId} changes to the rules of ${next.fork} at ${at}; nothing is to do.`,
    )
  }
  reasons.push(...executorReasons(chainId, executors))
  const alerts = [
    ...(waits === undefined ? [] : [`Chain ${chainId} is ${waits}.`]),
    ...executorAlerts(chainId, executors ?? []),
  ]
  const detail = {
    head: Number(number),
    headAge: age,
    answers: fresh,
    bundlesHere: leads(),
    bundled,
    ...(next && { coming: { fork: next.fork, activation: next.activation } }),
    ...(waits !== undefined && { waits }),
    executors: (executors ?? []).map(({ role, address, state, balance, inFlight }) => ({
      role,
      address,
      state,
      inFlight,
      balance: String(balance),
    })),
  }
  return { chainId, fresh, reasons, alerts, detail }
}

/** What nodes serve instead, where none of the chain's own answers. Anybody may read it, so it names no host; the log does. */
function otherChains(nodes: readonly NodeState[]): string | undefined {
  const strangers = new Set(nodes.flatMap((node) => node.otherChain ?? []))
  const isAway = nodes.every(
    ({ otherChain, pausedUntil }) => (otherChain ?? pausedUntil) !== undefined,
  )
  return isAway && strangers.size > 0
    ? [...strangers].map((other) => `one serves ${other}`).join(', ')
    : undefined
}

/** The reasons that the executors of a chain give; `executors` is undefined where they are not known. */
export function executorReasons(
  chainId: number,
  executors: readonly ExecutorStatus[] | undefined,
): readonly string[] {
  if (executors === undefined) return [`The state of the executors of chain ${chainId} is unknown.`]
  const senders = executors.filter(({ role }) => role === 'executor')
  const allPaused = senders.length > 0 && senders.every(({ state }) => state === 'paused')
  return allPaused ? [`All executors of chain ${chainId} are paused: nothing new is sent.`] : []
}

/** The needs of executors and treasury, by address. */
export function executorAlerts(
  chainId: number,
  executors: readonly ExecutorStatus[],
): readonly string[] {
  return executors.flatMap(({ address, alert }) =>
    alert === undefined ? [] : [`Chain ${chainId}, ${address}: ${alert}.`],
  )
}

/** The answer of `read`, or one that is at most 2 s old: everybody may ask for the readiness. */
export function recently<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  const recent = createRecent<Answer>(2_000)
  return () => recent('', read)
}

/** Undefined where nothing keeps bundles back, or the node does not say. */
export async function waitOf({ ceilingWait }: ChainHealth): Promise<string | undefined> {
  return ceilingWait && within(ceilingWait(), undefined)
}

/** The answer, or another one where it fails or takes longer than `TIMEOUT`. */
export async function within<Answer, Other>(answer: Promise<Answer>, otherwise: Other) {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Other>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), TIMEOUT)
  })
  try {
    return await Promise.race([answer.catch(() => otherwise), timeout])
  } finally {
    clearTimeout(timer)
  }
}
