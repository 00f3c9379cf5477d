import { afterAll, beforeAll } from 'vitest'
import { type PromisingNode, startPromisingNode } from '../chain/promisingNode.js'
import { prepareServing, type Serving } from './serving.js'

/** `purser serve` for the tests of a file, on a chain whose sequencer promises blocks before it makes them. */
export type PromisedServing = Pick<Serving, 'info' | 'start' | 'commands'> & {
  readonly node: PromisingNode
}

/** The returned object may be used once the tests run. */
export function usePromisedServing(chainId: number, facts: object = {}): PromisedServing {
  let node: PromisingNode | undefined
  let serving: Serving | undefined
  beforeAll(async () => {
    serving = await prepareServing(chainId, async ({ rpcUrl }) => {
      node = await startPromisingNode(rpcUrl)
      const own = { preconfirmations: true, resubmitAfter: 3_600_000, ...facts }
      return { rpcUrls: [node.url], facts: own }
    })
    await serving.start()
  })
  afterAll(async () => {
    await serving?.stop()
    await node?.stop()
  })
  function running<Part>(part: Part | undefined): Part {
    if (part === undefined) throw new Error('The service does not run yet.')
    return part
  }
  return {
    get node() {
      return running(node)
    },
    get commands() {
      return running(serving).commands
    },
    info: (as) => running(serving).info(as),
    start: (environment) => running(serving).start(environment),
  }
}
