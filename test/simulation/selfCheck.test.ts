import { type Address, parseEther } from 'viem'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { StateProvider } from '../../src/chain/stateProvider.js'
import { fromHex, type State } from '../../src/evm/index.js'
import { checkOperation, checkOverride, selfCheck } from '../../src/simulation/check/selfCheck.js'
import { startPlainNode } from '../support/chain/plainNode.js'
import { openEngine, type TestEngine } from '../support/world/ground.js'
import { senderKinds, VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

describe.each(VERSIONS)('a self-check with EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)
  let tank: Address
  const open: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    tank = await chain().createTank(0)
  })
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close()
  })

  const build = async (kind: 'deployed' | 'counterfactual' | 'delegated') => {
    const seed = `checked ${kind}`
    const call = chain().onTarget('write', 0n, 2n)
    const op = await chain().sign(
      await chain().sponsor(await chain().draft(kind, seed, call), tank),
      seed,
    )
    await chain().engine.heads.refresh()
    return op
  }

  const plainEngine = async () => {
    const node = await startPlainNode(chain().anvil.url)
    const engine = await openEngine(node.url, chain().chainId)
    open.push(() => node.stop())
    open.push(() => engine.close())
    return engine
  }

  test.each(senderKinds(version))('agrees with a tracing node to the unit (%s)', async (kind) => {
    const { node, state } = chain().engine
    const op = await build(kind)
    expect(await selfCheck({ node, state }, chain().entryPoint, op)).toEqual({
      agrees: true,
      by: 'trace',
    })
  })

  test.each(senderKinds(version))('agrees with a plain node to the unit (%s)', async (kind) => {
    const op = await build(kind)
    const { node, state } = await plainEngine()
    expect(await selfCheck({ node, state }, chain().entryPoint, op)).toEqual({
      agrees: true,
      by: 'threshold',
    })
  })

  test('compares revert data of what is refused', async () => {
    const op = { ...(await build('counterfactual')), nonce: 3n }
    const { node, state } = await plainEngine()
    expect(await selfCheck({ node, state }, chain().entryPoint, op)).toEqual({
      agrees: true,
      by: 'revert',
    })
  })

  test('of the check that a start makes is the same at every base fee', async () => {
    const { node, state } = chain().engine
    /** Our EVM sees a base fee of 0, as a call without a price does on geth; anvil shows the block's. */
    const free: StateProvider = {
      ...state,
      withState: (hints, attempt) =>
        state.withState(hints, (known, reads) => {
          const block = { ...known.block, baseFee: 0n }
          const account: State['account'] = (address) => known.account(address)
          const slot: State['slot'] = (...at) => known.slot(...at)
          return attempt({ account, slot, head: known.head, block }, reads)
        }),
    }
    expect(chain().engine.heads.current().baseFee).toBeGreaterThan(0n)
    const checked = await selfCheck(
      { node, state: free },
      chain().entryPoint,
      checkOperation,
      checkOverride,
    )
    expect(checked).toEqual({ agrees: true, by: 'trace' })
  })

  test('tells a difference of one unit of gas in validation', async () => {
    const sender: Address = '0x00000000000000000000000000000000000acc00'
    const takesAll = '0x5f5f5260205ff3'
    const withOneMoreJumpDest = fromHex('0x5b5f5f5260205ff3')
    await chain().tester.setCode({ address: sender, bytecode: takesAll })
    await chain().deposit(sender, parseEther('1'))
    await chain().engine.heads.refresh()
    const drafted = await chain().draft('counterfactual', 'nobody')
    const op = { ...drafted, sender, factory: undefined, callData: '0x' as const }

    const check = ({ node, state }: TestEngine, one: boolean) =>
      selfCheck({ node, state: one ? elsewhere(state) : state }, chain().entryPoint, op)
    const elsewhere = (state: StateProvider): StateProvider => ({
      ...state,
      withState: (hints, attempt) =>
        state.withState(hints, (known, reads) => {
          const account: State['account'] = (address) => {
            const truth = known.account(address)
            return truth && address === sender ? { ...truth, code: withOneMoreJumpDest } : truth
          }
          const { head, block } = known
          return attempt({ account, slot: (...at) => known.slot(...at), head, block }, reads)
        }),
    })
    for (const engine of [chain().engine, await plainEngine()]) {
      expect(await check(engine, false)).toMatchObject({ agrees: true })
      const found = await check(engine, true)
      expect(found).toMatchObject({ agrees: false })
      if (found.agrees) throw new Error('unreachable')
      const number = (text: string) => Number(/\d+/.exec(text)?.[0])
      if (found.by === 'trace') expect(number(found.ours) - number(found.node)).toBe(1)
      else expect(found.node).toContain('one less is enough')
    }
  })
})
