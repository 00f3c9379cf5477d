import type { Hex } from 'viem'
import type { DatabaseWork } from '../../test/support/database/databaseWork.js'
import { createEntryPoint } from '../../src/erc4337/createEntryPoint.js'
import { createFleet, type Fleet, mapConcurrent } from './fleet.js'
import type { LoadChain } from './loadChain.js'
import type { LoadOptions } from './loadOptions.js'
import { type LoadFigures, measureLoad, medianOf, send, type Watched } from './measureLoad.js'
import { createRpcClient, type RpcClient } from './rpcClient.js'
import { watchInclusions } from './watchInclusions.js'

type Target = {
  readonly url: string
  readonly watched: Watched
  readonly countWork?: (() => Promise<() => Promise<DatabaseWork | undefined>>) | undefined
}

/** Accounts are created by operations, which warms up whatever is measured; then the runs. */
export async function runLoad(
  { rpcUrl, chainId, entryPoints, factories }: LoadChain,
  target: Target,
  options: LoadOptions,
): Promise<LoadFigures> {
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
      node,
      bundler,
      entryPoint,
      factory,
      chainId,
      accounts: options.accounts,
      payer: options.payer,
      seed: options.seed,
      concurrency,
    })
    await createAccounts({ node, bundler, entryPoint, fleet, concurrency })
    fleet.sponsorTimes()
    const { watched, countWork } = target
    const runs: LoadFigures[] = []
    for (let run = 0; run < options.runs; run++)
      runs.push(
        await measureLoad({ node, bundler, entryPoint, fleet, watched, countWork }, options),
      )
    return medianOf(runs)
  } finally {
    await node.close()
    await bundler.close()
  }
}

type Creation = Pick<Parameters<typeof send>[0], 'bundler' | 'entryPoint'> & {
  readonly node: RpcClient
  readonly fleet: Fleet
  readonly concurrency: number
}

/** By operations, and until the bundler knows that they are included. */
async function createAccounts({ node, fleet, concurrency, ...target }: Creation): Promise<void> {
  const inclusions = await watchInclusions(node, target.entryPoint.address)
  try {
    const creations = await fleet.creations()
    await mapConcurrent(creations, concurrency, (each) => send(target, each))
    const hashes = creations.map(({ hash }) => hash)
    await inclusions.all(hashes)
    await knownTo(target.bundler, hashes)
  } finally {
    await inclusions.stop()
  }
}

const PERIOD = 50

/** Waits until the bundler has seen the blocks too: before that it takes the accounts for missing. */
async function knownTo(bundler: RpcClient, hashes: readonly Hex[]): Promise<void> {
  for (const hash of hashes) {
    const receipt = () => bundler.call<object | null>('eth_getUserOperationReceipt', [hash])
    while ((await receipt()).result === null)
      await new Promise((resolve) => setTimeout(resolve, PERIOD))
  }
}
