import { type Address, parseEther, parseGwei } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { createRandom } from '../evm/random.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { admitEstimated } from '../support/chain/payingOperations.js'
import { gethBinary } from '../support/nodes/startGeth.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/*
 * A chain whose prices our EVM does not know: geth by the rules of Amsterdam and later, behind a front that does not
 * let anybody see which rules these are, so that our EVM takes them for those of Osaka.
 */

const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }

/** SLOTNUM, by which we know Amsterdam. */
const PROBE = '0x4b505f5ff3'

const hidesItsFork = (rpcUrl: string) =>
  startChangedNode(rpcUrl, (method, params, answer) => {
    const [request] = params as [{ data?: string } | undefined]
    const isHidden = method === 'eth_config' || (method === 'eth_call' && request?.data === PROBE)
    if (!isHidden) return answer
    const { result: _, ...rest } = answer
    return { ...rest, error: { code: -32000, message: 'invalid opcode: SLOTNUM' } }
  })

/** As that, without a tracer. */
const hasNoDebug = async (rpcUrl: string) => {
  const hiding = await hidesItsFork(rpcUrl)
  const front = await startChangedNode(hiding.url, (method, _, answer) => {
    const { result: __, ...rest } = answer
    return method === 'debug_traceCall'
      ? { ...rest, error: { code: -32601, message: 'the method does not exist' } }
      : answer
  })
  const stop = async () => {
    await front.stop()
    await hiding.stop()
  }
  return { ...front, stop }
}

const nodes = [
  { name: 'that traces', front: hidesItsFork, rules: 'full' },
  { name: 'without a tracer', front: hasNoDebug, rules: 'partial' },
] as const

for (const { name, front, rules } of gethBinary() === undefined ? [] : nodes) {
  const world = useWorld({ kind: 'bogota', front, definition: { rules } })
  const tanks = new Map<Version, Address>()
  beforeAll(async () => {
    for (const version of VERSIONS)
      tanks.set(
        version,
        await world()
          .at(version)
          .createTank(0, { wei: parseEther('50') }),
      )
  })

  test.each(VERSIONS)(`v%s estimates, admits and sends on a node ${name}`, async (version) => {
    const { engine } = world().chain
    expect(engine.trouble()).toMatch(/disagrees with the node/)
    expect(engine.forks()).toEqual(['osaka'])
    const random = createRandom(version.charCodeAt(2))
    for (const payer of ['balance', 'deposit', 'tank'] as const) {
      const choice = { random, version, payer, tank: tanks.get(version)!, fees }
      const { hash } = await admitEstimated(world().database, world(), choice)
      await world().round()
      await world().settle()
      expect((await world().stored(hash)).state, payer).toBe('included')
      expect((await world().receipt(hash)).success).toBe(true)
    }
  })
}

test.skipIf(gethBinary() !== undefined)('is left out, as there is no geth', () => undefined)
