import type { Address } from 'viem'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { type BundleSizes, fixedSize } from '../gas/bundleSizes.js'
import type { Database } from '../store/database.js'
import { recentSizes } from '../store/outbox/bundleSizes.js'

/** The sizes of bundle that a chain's operations are priced for. */
export type ExpectedSizes = {
  /** As they were at most a second ago. */
  of(entryPoint: Address): Promise<BundleSizes>
  /** As they are now. */
  newest(entryPoint: Address): Promise<BundleSizes>
}

/** Milliseconds for which sizes are used again. */
const KEPT_FOR = 1_000

const alone = fixedSize(1)

/**
 * The configured size, or with `auto` those that the chain's bundler has stored: every process reads the same ones,
 * so an operation that was estimated by one is admitted by another. 1 where no bundler tells.
 */
export function createBundleSizes(
  database: Database,
  { chainId, expectedBundleSize }: Pick<ChainDefinition, 'chainId' | 'expectedBundleSize'>,
): ExpectedSizes {
  if (expectedBundleSize !== 'auto') {
    const sizes = fixedSize(expectedBundleSize)
    return { of: async () => sizes, newest: async () => sizes }
  }
  let kept: { readonly until: number; readonly read: ReturnType<typeof read> } | undefined

  async function read(): Promise<ReadonlyMap<Address, BundleSizes>> {
    const rows = await recentSizes(database, chainId)
    return new Map(
      rows.map(({ entryPoint, current = 1, largest }) => [
        entryPoint,
        { current, fewest: 1, most: largest },
      ]),
    )
  }

  const readNow = (): ReturnType<typeof read> => {
    const reading = read()
    kept = { until: performance.now() + KEPT_FOR, read: reading }
    reading.catch(() => {
      if (kept?.read === reading) kept = undefined
    })
    return reading
  }
  return {
    of: async (entryPoint) => {
      const known = kept && kept.until > performance.now() ? kept.read : readNow()
      return (await known).get(entryPoint) ?? alone
    },
    newest: async (entryPoint) => (await readNow()).get(entryPoint) ?? alone,
  }
}
