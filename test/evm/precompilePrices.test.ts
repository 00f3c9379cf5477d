import { type Address, type Hex, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BlockEnv, call, toHex } from '../../src/evm/index.js'
import { shareOf } from '../support/runs.js'
import { type Anvil, createNodeState, latestBlock, startAnvil } from './anvil.js'

const SENDER: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const GAS = 9_000_000

/** Every number of terms the discount tables of EIP-2537 know, and some beyond. */
const SIZES = shareOf(Array.from({ length: 132 }, (_, i) => i + 1))

describe('prices of multi-term precompiles, compared with anvil', () => {
  let anvil: Anvil
  let block: BlockEnv

  beforeAll(async () => {
    anvil = await startAnvil('osaka')
    block = await latestBlock(anvil, 'osaka')
  })

  afterAll(async () => anvil?.stop())

  it.each([
    ['G1 sums', 0x0c, 160],
    ['G2 sums', 0x0e, 288],
    ['pairings', 0x0f, 384],
    ['bn254 pairings', 0x08, 192],
  ] as const)('%s', async (_, precompile, term) => {
    const to: Address = `0x${precompile.toString(16).padStart(40, '0')}`
    const inputs = SIZES.map((terms) => new Uint8Array(terms * term))
    const state = createNodeState(anvil)
    for (const address of [SENDER, to]) await state.fetch([{ kind: 'account', address }])
    for (const data of inputs) {
      const run = { state, block, onMiss: 'stop', record: false, maxSteps: 1e9 } as const
      const outcome = call(run, { from: SENDER, to, data, value: 0n, gas: GAS })
      const tx = { from: SENDER, to, data: toHex(data), gas: numberToHex(GAS) }
      const params = [tx, 'latest', { tracer: 'callTracer' }]
      const trace = await anvil.request<{ gasUsed: Hex; output: Hex }>('debug_traceCall', params)
      expect(outcome).toMatchObject({ kind: 'done', gasUsed: Number(trace.gasUsed) })
      if (outcome.kind === 'done') expect(toHex(outcome.output)).toBe(trace.output)
    }
  })
})
