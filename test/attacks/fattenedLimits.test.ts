import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Draft } from '../../src/entrypoint/draft.js'
import type { SponsorshipRequest } from '../../src/paymaster/sponsorship.js'
import { type EngineChain, openEngineChain } from '../support/chain/engineChain.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { type SponsorWorld, sponsorWorld } from '../support/service/sponsorWorld.js'
import { carryAsStranger } from '../support/tanks/carryAsStranger.js'
import { TARGET } from '../support/tanks/tankChain.js'

/*
 * The attacker has an empty call sponsored with limits far above its need, and carries it to the chain
 * himself: the tank pays him preVerificationGas in full and a tenth of the call gas that was left over.
 */

const testDatabase = useDatabase()

describe.each(['0.7', '0.8', '0.9'] as const)('EntryPoint v%s', (version) => {
  let chain: EngineChain
  let world: SponsorWorld
  let appId = ''
  let seeds = 0

  beforeAll(async () => {
    chain = await openEngineChain(version)
    const { entryPoint, chainId, engine } = chain
    const { node, heads } = engine
    const { database } = testDatabase()
    world = sponsorWorld({ database, node, heads, entryPoint, definition: { chainId }, engine })
    appId = await createApp(database)
    await world.makeTank(appId, parseEther('5'))
  })
  afterAll(async () => {
    world?.close()
    await chain?.close()
  })

  const draftOf = async () => {
    const seed = `fat ${version} ${seeds++}`
    const draft: Draft = { ...(await chain.draft('deployed', seed, { to: TARGET })), ...unsetGas }
    await chain.engine.heads.refresh()
    return { seed, draft }
  }
  const ask = (draft: Draft, choices?: Partial<SponsorshipRequest>) =>
    world.sponsor.sponsor(world.request(appId, draft, choices))

  test.each([
    ['callGasLimit', 12_000_000n],
    ['verificationGasLimit', 4_000_000n],
    ['paymasterVerificationGasLimit', 4_000_000n],
    ['preVerificationGas', 130_000n],
  ] as const)('a %s of %i is not signed', async (field, limit) => {
    const { draft } = await draftOf()
    const needed = (await ask(draft)).operation
    const { callGasLimit, verificationGasLimit, preVerificationGas } = needed
    const limits = { callGasLimit, verificationGasLimit, preVerificationGas, [field]: limit }
    const { decision } = await ask({ ...draft, ...limits }, { calculateGasLimits: false })
    expect(decision).toMatchObject({ sponsored: false, code: 'GAS_TOO_HIGH' })
  })

  test('the most that is signed brings a stranger little more than the tip', async () => {
    const { seed, draft } = await draftOf()
    const needed = (await ask(draft)).operation
    const fat = {
      callGasLimit: (needed.callGasLimit * 3n) / 2n + 200_000n,
      verificationGasLimit: (needed.verificationGasLimit * 3n) / 2n + 200_000n,
      preVerificationGas: (needed.preVerificationGas * 5n) / 4n,
    }
    const { operation, decision } = await ask({ ...draft, ...fat }, { calculateGasLimits: false })
    expect(decision.sponsored).toBe(true)
    expect(operation).toMatchObject(fat)
    const carried = await carryAsStranger(chain, await chain.sign(operation, seed))
    const unused = needed.preVerificationGas / 4n + needed.callGasLimit / 20n + 20_000n
    expect(carried.gasCharged - carried.gasUsed).toBeLessThan(unused + carried.gasUsed / 100n)
    // The tank pays for gas at base fee and tip; a stranger keeps the tip, and the price of unused gas.
    const price = carried.paid / carried.gasCharged
    const tip = price - carried.baseFee
    const most = carried.gasUsed * tip + (unused + carried.gasUsed / 100n) * price
    expect(carried.gain).toBeLessThanOrEqual(most)
  })

  test('the most that requests lock is half more than they need, and 100,000 gas', async () => {
    const { draft } = await draftOf()
    const needed = (await ask(draft)).operation
    const { operation } = await ask(
      {
        ...draft,
        callGasLimit: (needed.callGasLimit * 3n) / 2n + 200_000n,
        verificationGasLimit: (needed.verificationGasLimit * 3n) / 2n + 200_000n,
        preVerificationGas: (needed.preVerificationGas * 5n) / 4n,
      },
      { calculateGasLimits: false },
    )
    const { chargeableGas } = chain.entryPoint
    const most = (chargeableGas(needed) * 3n) / 2n + 400_000n
    expect(chargeableGas(operation)).toBeLessThanOrEqual(most)
  })
})
