import { type Hex, numberToHex, parseEther, parseGwei, parseTransaction } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import { FeeTooLowError } from '../../src/base/errors/operationErrors.js'
import type { ChainDefinition } from '../../src/chain/definition/chainDefinition.js'
import { adviseFees } from '../../src/chain/fees.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Fees } from '../../src/erc4337/fees.js'
import { createRandom } from '../evm/random.js'
import { admitEstimated } from '../support/chain/payingOperations.js'
import { type Strictness, startStrictNode } from '../support/chain/strictNode.js'
import { useDatabase } from '../support/database/database.js'
import { openWorld, type World } from '../support/world/openWorld.js'
import { VERSIONS } from '../support/world/versionChain.js'

/* A node in front of anvil refuses what the chain's own nodes refuse: anvil itself takes any tip. */

const postgres = useDatabase()
const baseFee = parseGwei('1')
const random = createRandom(25)

let opened: World | undefined
afterEach(async () => {
  await opened?.stop()
  opened = undefined
})

async function start(definition: Partial<ChainDefinition>, strictness: Strictness, base = baseFee) {
  const front = (url: string) => startStrictNode(url, strictness)
  const args = ['--block-base-fee-per-gas', String(base)]
  opened = await openWorld(postgres().database, {
    definition: { maxBundleWait: 0, ...definition },
    args,
    front,
  })
  return opened
}

function admit(chain: World, maxPriorityFeePerGas: bigint) {
  return admitPaying(chain, { maxFeePerGas: parseGwei('200'), maxPriorityFeePerGas })
}

async function admitPaying(
  chain: World,
  fees: Fees,
  version: Version = '0.7',
  payer: 'balance' | 'tank' = 'balance',
) {
  await chain.tester.setAutomine(true)
  const tank = await chain.at(version).createTank(0, { wei: parseEther('1') })
  const database = postgres().database
  const admitted = await admitEstimated(database, chain, {
    random,
    version,
    payer,
    tank,
    fees,
  })
  await chain.tester.setAutomine(false)
  return admitted
}

async function mined(chain: World, hash: Hex): Promise<string> {
  await chain.round()
  await chain.tester.mine({ blocks: 1 })
  await chain.round()
  return (await chain.stored(hash)).state
}

describe('a chain with a minimum tip (Polygon PoS)', () => {
  const minimum = parseGwei('25')
  const strictness: Strictness = {
    refuses: ({ maxPriorityFeePerGas: tip = 0n }) =>
      tip < minimum
        ? `transaction underpriced: gas tip cap ${tip}, minimum needed ${minimum}`
        : undefined,
  }

  test('all advice reaches it, less is refused with the figure, and bundles are taken', async () => {
    const chain = await start({ minimumTip: minimum }, strictness)
    const head = await chain.heads.refresh()
    const advice = await adviseFees(chain.context.node, head, chain.definition)
    for (const tier of [advice.slow, advice.standard, advice.fast])
      expect(tier.maxPriorityFeePerGas).toBeGreaterThanOrEqual(minimum)
    await expect(admit(chain, minimum - 1n)).rejects.toEqual(
      new FeeTooLowError('maxPriorityFeePerGas', minimum - 1n, minimum),
    )
    const { hash } = await admit(chain, minimum)
    expect(await mined(chain, hash)).toBe('included')
  })

  test('without the fact the node refuses every bundle', async () => {
    const chain = await start({}, strictness)
    const { hash } = await admit(chain, parseGwei('2'))
    expect(await mined(chain, hash)).not.toBe('included')
  })
})

describe('a chain without a base fee to speak of (BNB Chain)', () => {
  /** What anvil suggests itself: all that its nodes take costs as much as they advise. */
  const minimum = parseGwei('1')
  const strictness: Strictness = {
    refuses: ({ maxFeePerGas = 0n, maxPriorityFeePerGas: tip = 0n }) =>
      tip < minimum || maxFeePerGas < minimum ? 'transaction underpriced' : undefined,
  }

  test('what offers just the advised fees is included, and less than can ever go is refused', async () => {
    const chain = await start({ minimumTip: minimum }, strictness, 0n)
    await chain.tester.setNextBlockBaseFeePerGas({ baseFeePerGas: 0n })
    await chain.tester.mine({ blocks: 1 })
    const head = await chain.heads.refresh()
    expect(head.baseFee).toBe(0n)
    const { slow } = await adviseFees(chain.context.node, head, chain.definition)
    for (const version of VERSIONS)
      for (const payer of ['balance', 'tank'] as const) {
        const { hash } = await admitPaying(chain, slow, version, payer)
        expect(await mined(chain, hash)).toBe('included')
      }
    const bare = { maxFeePerGas: minimum, maxPriorityFeePerGas: minimum }
    const refusal = await admitPaying(chain, bare).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(FeeTooLowError)
    const { required } = (refusal as FeeTooLowError).data as { required: string }
    expect(BigInt(required)).toBeLessThanOrEqual(slow.maxFeePerGas)
  })
})

describe('a chain whose headers tell the least tip (Linea)', () => {
  const perGas = parseGwei('0.03')
  const perByte = parseGwei('700')
  const word = (wei: bigint) => numberToHex(wei / 1_000n, { size: 4 }).slice(2)
  const extraData = `0x01${word(perGas)}${word(perByte)}${word(0n)}`
  const taken: Hex[] = []
  /** The sequencer counts compressed bytes and gas used; half of both is less than either. */
  const strictness: Strictness = {
    change: (method, _, result) =>
      /^eth_getBlockBy/.test(method) && result ? { ...result, extraData } : result,
    refuses: ({ maxPriorityFeePerGas: tip = 0n, gas = 1n }, raw) => {
      const bytes = BigInt(raw.length / 2 - 1)
      if (tip < perGas + (perByte * bytes) / (2n * gas))
        return 'Gas price below configured minimum gas price'
      taken.push(raw)
      return undefined
    },
  }

  test('an operation pays for its bytes by its tip, and each bundle offers what its bytes ask for', async () => {
    const chain = await start({ minimumTip: 'linea', expectedBundleSize: 1 }, strictness)
    const refusal = await admit(chain, perGas).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(FeeTooLowError)
    const tips = [parseGwei('20'), parseGwei('30'), parseGwei('60')]
    const hashes: Hex[] = []
    for (const tip of tips) hashes.push((await admit(chain, tip)).hash)
    for (let round = 0; round < 3; round++) await mined(chain, hashes[0]!)
    const states = await Promise.all(hashes.map(async (hash) => (await chain.stored(hash)).state))
    expect(states).toEqual(['included', 'included', 'included'])
    expect(taken.length).toBeGreaterThan(0)
    for (const raw of taken) {
      const { maxPriorityFeePerGas: tip = 0n, gas = 1n } = parseTransaction(raw)
      // By the plain bytes, spread over the gas that is used: never more than the limit.
      expect(tip).toBeGreaterThanOrEqual(perGas + (perByte * BigInt(raw.length / 2 - 1)) / gas)
    }
  })
})
