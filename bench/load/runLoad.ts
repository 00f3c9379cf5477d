import { createEntryPoint } from '../../src/entrypoint/index.js'
import { createFleet, mapConcurrent } from './fleet.js'
import type { LoadChain } from './loadChain.js'
import type { LoadOptions } from './loadOptions.js'
import { type LoadFigures, measureLoad, medianOf, send, type Watched } from './measureLoad.js'
import { createRpcClient } from './rpcClient.js'
import { watchInclusions } from './watchInclusions.js'

type Target = {
  readonly url: string
  readonly watched: Watched
  readonly commits: (() => Promise<number>) | undefined
}

/** Accounts are created by operations, which warms up whatever is measured; then the runs. */
export const runLoad = async (
  { rpcUrl, chainId, entryPoints, factories }: LoadChain,
  target: Target,
  options: LoadOptions,
): Promise<LoadFigures> => {
  const { version, concurrency } = options
  const address = entryPoints[version]
  const factory = factories[version]
  if (address === undefined || factory === undefined)
    throw new Error(`the chain has no EntryPoint ${version}`)
  const entryPoint = createEntryPoint(version, address)
  const node = createRpcClient(rpcUrl, 4)
  const bundler = createRpcClient(target.url, concurrency)
  try {
    const fleet = await createFleet({
      ...{ node, bundler, entryPoint, factory, chainId },
      ...{ accounts: options.accounts, payer: options.payer, seed: options.seed, concurrency },
    })
    const inclusions = await watchInclusions(node, address)
    const creations = await fleet.creations()
    await mapConcurrent(creations, concurrency, (each) => send({ bundler, entryPoint }, each))
    await inclusions.all(creations.map(({ hash }) => hash))
    await inclusions.stop()
    fleet.sponsorTimes()
    const { watched, commits } = target
    const runs: LoadFigures[] = []
    for (let run = 0; run < options.runs; run++)
      runs.push(await measureLoad({ node, bundler, entryPoint, fleet, watched, commits }, options))
    return medianOf(runs)
  } finally {
    await node.close()
    await bundler.close()
  }
}
