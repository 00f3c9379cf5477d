import { type Hex, parseEther } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { startChangedNode } from '../support/chain/changedNode.js'
import { useDatabase } from '../support/database/database.js'
import { useFreshWorld } from '../support/world.js'

/*
 * The attacker's paymaster sponsors many operations, and takes its deposit back but for one of them. Each passes alone and
 * fails behind another. Before: each was found by itself, with eight simulations of pairs, so a paymaster with
 * a stake and 250 operations kept the bundler busy for thousands of simulations, at each head, for the price of one.
 */
const MANY = 20
const postgres = useDatabase()

describe('operations whose paymaster has the deposit of one left', () => {
  let simulations = 0
  beforeEach(() => {
    simulations = 0
  })
  const chain = useFreshWorld(
    {
      definition: { maxBundlesPerExecutor: 2 },
      front: (target) =>
        startChangedNode(target, (method, _params, answer) => {
          if (method === 'eth_call' || method === 'eth_simulateV1') simulations += 1
          return answer
        }),
    },
    postgres,
  )

  test('are left out together, and take nobody else along', async () => {
    const paymaster = await chain().createAccount()
    const fees = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 3_000_000_000n }
    const sponsored = []
    for (let i = 0; i < MANY; i++)
      sponsored.push(chain().operation(await chain().createAccount(), { ...fees, paymaster }))
    const hashes: Hex[] = []
    for (const op of sponsored) hashes.push(await chain().admit(op))
    const honest = await chain().admit(chain().operation(await chain().createAccount(), fees))
    const left = chain().entryPoint.requiredPrefund(sponsored[0]!) + 1n
    await chain().withdraw(paymaster, parseEther('1') - left)
    await chain().setAutomine(false)
    simulations = 0
    await chain().round()
    const states = async () =>
      Promise.all(hashes.map(async (hash) => (await chain().stored(hash)).state))
    expect((await states()).filter((state) => state === 'bundled')).toHaveLength(1)
    expect((await chain().stored(honest)).state).toBe('bundled')
    expect(simulations).toBeLessThan(MANY)
    await chain().setAutomine(true)
    await chain().settle()
    expect(new Set(await states())).toEqual(new Set(['included', 'dropped']))
  })
})
