import type { Logger } from 'pino'
import type { Database } from '../store/database.js'
import { fencedDatabase } from '../store/fencedDatabase.js'
import { giveUpLease, type Lease, renewLease, seizeLease, takeLease } from '../store/leases.js'
import type { Bundler } from './startBundler.js'

export type Candidacy = {
  readonly database: Database
  readonly chainId: number
  /** Names this process to people who look at the leases. */
  readonly holder: string
  /** Milliseconds after which the others may take a lease that was not renewed. */
  readonly duration: number
  /** Nobody else runs on the database, so a lease that a killed process left is taken at once. */
  readonly alone: boolean
  readonly logger: Logger
}

/** What a reign needs of a bundler. */
type Reigning = Pick<Bundler, 'wake' | 'stop'>

export type BundlingCandidate = Reigning & {
  /** Tries for the lease now; called when one was given up. */
  compete(): void
  /** Does this process bundle? */
  leads(): boolean
}

export function bundlerLease(chainId: number): string {
  return `bundler ${chainId}`
}

type Reign = { readonly lease: Lease; readonly bundler: Reigning }

/**
 * Bundles on one chain whenever this process holds the chain's lease, and competes for it otherwise.
 * `start` gets the database through which the bundler must write: another process that has taken over
 * makes its writes fail. A lease that cannot be renewed because the database is away is kept until
 * another process has it; nothing can be written meanwhile.
 */
export function leadBundling(
  { database, chainId, holder, duration, alone, logger }: Candidacy,
  start: (database: Database) => Reigning,
): BundlingCandidate {
  const name = bundlerLease(chainId)
  let reign: Reign | undefined
  let stopped: Promise<void> | undefined
  let step: Promise<void> = Promise.resolve()
  let queued = false
  let take: typeof takeLease = alone ? seizeLease : takeLease

  const resign = async ({ bundler }: Reign): Promise<void> => {
    reign = undefined
    await bundler.stop()
  }

  const advance = async (): Promise<void> => {
    if (reign) {
      if (await renewLease(database, reign.lease, duration)) return
      logger.warn({ token: reign.lease.token }, 'another process bundles now')
      await resign(reign)
    }
    const lease = await take(database, name, holder, duration)
    if (!lease) return
    // Only at first: who takes the lease from us later does so with a right of its own.
    take = takeLease
    logger.info({ token: lease.token }, 'this process bundles')
    reign = { lease, bundler: start(fencedDatabase(database, lease, compete)) }
  }

  /** Steps follow each other; those that were asked for before one begins are one. */
  function compete(): void {
    if (queued || stopped) return
    queued = true
    step = step.then(async () => {
      queued = false
      if (stopped) return
      try {
        await advance()
      } catch (error) {
        logger.warn({ reason: (error as Error).message }, 'the lease was not renewed')
      }
    })
  }

  const stop = async (): Promise<void> => {
    clearInterval(timer)
    await step
    if (!reign) return
    const { lease } = reign
    await resign(reign)
    try {
      await giveUpLease(database, lease)
    } catch (error) {
      const { message } = error as Error
      logger.warn({ reason: message }, 'the lease was not given up; it ends by itself')
    }
  }

  const timer = setInterval(compete, duration / 3)
  compete()
  return {
    compete,
    wake: () => reign?.bundler.wake(),
    leads: () => reign !== undefined,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}
