/**
 * Milliseconds and node requests (HTTP exchanges) per validation and per estimate: our EVM, the node by
 * tracing, the node's own simulation (v0.6) and one bare eth_call, on a local anvil.
 */

import { ethCall } from '../src/chain/ethCall.js'
import { startHeadFollower } from '../src/chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../src/chain/nodeClient.js'
import type { Version } from '../src/erc4337/entryPoint.js'
import type { Operation } from '../src/erc4337/operation.js'
import type { Engine } from '../src/simulation/engine.js'
import { createNodeEngine } from '../src/simulation/node/nodeEngine.js'
import { findTracer } from '../src/simulation/tracer.js'
import { silent } from '../test/support/logger.js'
import { openEngine, openGround } from '../test/support/world/ground.js'
import { VERSIONS } from '../test/support/world/versionChain.js'
import type { GroundChain } from '../test/support/world.js'

const WARM_UP = 400
const ROUNDS = 400
/** A trace takes tens of milliseconds. */
const TRACES = 40
const BLOCKS = 25
const bounds = { call: 16_000_000n, verification: 5_000_000n }

type Row = { name: string; ms: number; requests: number }

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1] ?? 0
}

async function timed(body: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await body()
  return performance.now() - start
}

/** The median of many runs in the same block. */
async function repeated(
  body: () => Promise<unknown>,
  [warmUp, rounds] = [WARM_UP, ROUNDS],
): Promise<number> {
  for (let i = 0; i < warmUp; i++) await body()
  const times: number[] = []
  for (let i = 0; i < rounds; i++) times.push(await timed(body))
  return median(times)
}

/** What is refused early would look fast. */
async function must(run: Promise<{ ok: boolean }>): Promise<void> {
  const result = await run
  if (!result.ok)
    throw new Error(JSON.stringify(result, (_, v) => (typeof v === 'bigint' ? `${v}` : v)))
}

async function benchInProcess(chain: GroundChain, op: Operation): Promise<Row[]> {
  const { entryPoint, tester } = chain
  const rows: Row[] = []
  const cold: number[] = []
  const coldBatches: number[] = []
  for (let i = 0; i < 5; i++) {
    const engine = await openEngine(chain.anvil.url, chain.chainId)
    cold.push(await timed(() => engine.validate(entryPoint, op)))
    coldBatches.push(engine.batches().length)
    await engine.close()
  }
  rows.push({ name: 'validate, nothing known', ms: median(cold), requests: median(coldBatches) })

  const { engine } = chain
  const validate = () => must(engine.validate(entryPoint, op))
  const execute = () => must(engine.execute(entryPoint, op))
  const measure = () =>
    engine.measure(entryPoint, { ...op, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }, bounds)
  const bodies = { validate, execute, measure } as const
  for (const [name, body] of Object.entries(bodies)) {
    const same = await repeated(body)
    engine.batches()
    await body()
    rows.push({ name: `${name}, same block`, ms: same, requests: engine.batches().length })
    const times: number[] = []
    let batches = 0
    for (let i = 0; i < BLOCKS; i++) {
      await tester.mine({ blocks: 1 })
      await engine.heads.refresh()
      engine.batches()
      times.push(await timed(body))
      batches += engine.batches().length
    }
    rows.push({ name: `${name}, new block`, ms: median(times), requests: batches / BLOCKS })
  }
  return rows
}

/** A node client that counts its HTTP exchanges. No batch of these is so long that it is cut in two. */
function countingNode(rpcUrl: string): { node: NodeClient; requests: () => number } {
  let count = 0
  const node = createNodeClient({ urls: [rpcUrl], logger: silent })
  const counting: NodeClient = {
    ...node,
    request: (method, params) => {
      count++
      return node.request(method, params)
    },
    batch: (calls) => {
      count++
      return node.batch(calls)
    },
    head: () => {
      count++
      return node.head()
    },
  }
  return { node: counting, requests: () => count }
}

async function benchNode(chain: GroundChain, op: Operation): Promise<Row[]> {
  const { node, requests } = countingNode(chain.anvil.url)
  const { entryPoint, chainId } = chain
  const engine: Engine = createNodeEngine({ node })
  const data = entryPoint.encodeHandleOps([op], chain.target)
  const request = { to: entryPoint.address, data, gas: 5_000_000n }
  const bodies: Record<string, () => Promise<unknown>> = {
    'eth_call of handleOps': () => must(ethCall(node, request)),
  }
  bodies['node engine: validate'] = () => engine.validate(entryPoint, op)
  bodies['node engine: execute'] = () => engine.execute(entryPoint, op)
  bodies['node engine: measure'] = () =>
    engine.measure(entryPoint, { ...op, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }, bounds)
  const rows: Row[] = []
  for (const [name, body] of Object.entries(bodies)) {
    const ms = await repeated(body)
    const before = requests()
    await body()
    rows.push({ name, ms, requests: requests() - before })
  }
  const definition = { chainId, pollInterval: 3_600_000 }
  const heads = await startHeadFollower({ node, definition, logger: silent })
  const tracer = await findTracer(node, entryPoint)
  if (tracer === undefined) throw new Error('the node does not trace')
  const tracing = createNodeEngine({
    node,
    tracing: { node, heads, state: chain.engine.state, tracer },
  })
  const trace = () => must(tracing.validate(entryPoint, op))
  const ms = await repeated(trace, [TRACES, TRACES])
  const before = requests()
  await trace()
  rows.push({ name: `node, ${tracer} tracer: validate`, ms, requests: requests() - before })
  heads.stop()
  await node.close()
  return rows
}

async function bench(version: Version): Promise<void> {
  const ground = await openGround()
  const chain = { ...ground.at(version), engine: ground.engine }
  try {
    const tank = await chain.createTank(0)
    const own = await chain.draft('deployed', 'own', chain.onTarget('write', 0n, 2n))
    await chain.fund(own.sender)
    const sponsored = await chain.sponsor(
      await chain.draft('counterfactual', 'sponsored', chain.onTarget('write', 0n, 2n)),
      tank,
    )
    await chain.engine.heads.refresh()
    const ops = {
      'deployed, pays itself': await chain.sign(own, 'own'),
      'counterfactual, tank pays': await chain.sign(sponsored, 'sponsored'),
    }
    for (const [title, op] of Object.entries(ops)) {
      console.log(`\nEntryPoint v${version}, ${title}`)
      for (const row of [...(await benchInProcess(chain, op)), ...(await benchNode(chain, op))]) {
        const { name, ms, requests } = row
        console.log(`${name.padEnd(30)} ${ms.toFixed(3).padStart(8)} ms  ${requests} requests`)
      }
    }
  } finally {
    await ground.stop()
  }
}

for (const version of VERSIONS) await bench(version)
