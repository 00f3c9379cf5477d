import type { Logger } from 'pino'
import { createStateLog } from '../base/stateLog.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { Database } from '../db/database.js'
import { fencedDatabase } from '../db/fencedDatabase.js'
import { giveUpLease, type Lease, renewLease, seizeLease, takeLease } from '../db/leases.js'
import type { Bundler } from './startBundler.js'

type Candidacy = {
  readonly database: Database
  readonly chainId: number
  /** The name of this process for people who look at the leases. */
  readonly holder: string
  /** Milliseconds after which the others may take a lease that was not renewed. */
  readonly duration: number
  /** No other process runs on the database, so a lease that a killed process left is taken at once. */
  readonly alone: boolean
  readonly logger: Logger
  readonly metrics: ChainMetrics
}

/** The part of a bundler that the process with the lease needs. */
type LeaseBundler = Pick<Bundler, 'wake' | 'stop'>

export type BundlingCandidate = Pick<LeaseBundler, 'stop'> & {
  /** Wakes the bundler of this process; false where another one may lead. */
  wake(): boolean
  /** Tries to take the lease now; called when one was given up. */
  compete(): void
  /** Whether bundling started in this process. */
  leads(): boolean
}

export function bundlerLease(chainId: number): string {
  return `bundler ${chainId}`
}

type Leadership = { readonly lease: Lease; readonly bundler: LeaseBundler }

/**
 * A candidate that bundles on one chain while this process holds the chain's lease, and competes for the
 * lease otherwise.
 * `start` gets the database through which the bundler must write: another process that has taken over
 * makes its writes fail. A lease that cannot be renewed because the database is away is kept until
 * another process has it; nothing can be written meanwhile.
 */
export function leadBundling(
  { database, chainId, holder, duration, alone, logger, metrics }: Candidacy,
  start: (database: Database) => LeaseBundler,
): BundlingCandidate {
  const name = bundlerLease(chainId)
  let leadership: Leadership | undefined
  let stopped: Promise<void> | undefined
  let step: Promise<void> = Promise.resolve()
  let queued = false
  let take: typeof takeLease = alone ? seizeLease : takeLease

  const state = createStateLog(logger, 'the lease was not renewed', 'the lease is renewed again')

  const resign = async ({ bundler }: Leadership): Promise<void> => {
    leadership = undefined
    await bundler.stop()
  }

  const advance = async (): Promise<void> => {
    if (leadership) {
      if (await renewLease(database, leadership.lease, duration)) return
      metrics.count('purser_lease_lost_total', {})
      logger.warn({ token: leadership.lease.token }, 'bundling taken over by another process')
      await resign(leadership)
    }
    const lease = await take(database, name, holder, duration)
    if (!lease) return
    // Seizing is for the first time only: a process that takes the lease later does so by right.
    take = takeLease
    logger.info({ token: lease.token }, 'bundling started in this process')
    leadership = { lease, bundler: start(fencedDatabase(database, lease, compete)) }
  }

  /** Steps follow each other; requests before a step begins share it. */
  function compete(): void {
    if (queued || stopped) return
    queued = true
    step = step.then(async () => {
      queued = false
      if (stopped) return
      try {
        await advance()
        state.back()
      } catch (error) {
        state.away({ reason: (error as Error).message })
      }
    })
  }

  const stop = async (): Promise<void> => {
    clearInterval(timer)
    await step
    if (!leadership) return
    const { lease } = leadership
    await resign(leadership)
    try {
      await giveUpLease(database, lease)
    } catch (error) {
      const { message } = error as Error
      logger.warn({ reason: message }, 'the lease was not released; it will expire')
    }
  }

  const timer = setInterval(compete, duration / 3)
  compete()
  return {
    compete,
    wake: () => {
      leadership?.bundler.wake()
      return leadership !== undefined
    },
    leads: () => leadership !== undefined,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}
