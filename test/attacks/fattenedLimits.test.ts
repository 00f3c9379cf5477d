import { parseEther } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { devVersions } from '../../src/cli/devnet/devContracts.js'
import { carryAsStranger } from '../support/tanks/carryAsStranger.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'

/*
 * The attacker has an empty call sponsored with limits far above its need, and carries it to the chain
 * himself: the tank pays him preVerificationGas in full and a tenth of the call gas that was left over.
 */

describe.each(['0.7', '0.8', '0.9'] as const)('EntryPoint v%s', (version) => {
  const { chain, draftOf, ask, makeTank } = useSponsoredApp(version)
  beforeEach(() => makeTank(parseEther('5')))

  test.each([
    ['callGasLimit', 12_000_000n],
    ['verificationGasLimit', 4_000_000n],
    ['paymasterVerificationGasLimit', 4_000_000n],
    ['preVerificationGas', 130_000n],
  ] as const)('a %s of %i is not signed', async (field, limit) => {
    const { draft } = await draftOf('deployed')
    const needed = (await ask(draft)).operation
    const { callGasLimit, verificationGasLimit, preVerificationGas } = needed
    const limits = { callGasLimit, verificationGasLimit, preVerificationGas, [field]: limit }
    const { decision } = await ask({ ...draft, ...limits }, { calculateGasLimits: false })
    expect(decision).toMatchObject({ sponsored: false, code: 'GAS_TOO_HIGH' })
  })

  test('the most that is signed brings a stranger little more than the tip', async () => {
    const { seed, draft } = await draftOf('deployed')
    const needed = (await ask(draft)).operation
    const fat = {
      callGasLimit: (needed.callGasLimit * 3n) / 2n + 200_000n,
      verificationGasLimit: (needed.verificationGasLimit * 3n) / 2n + 200_000n,
      preVerificationGas: (needed.preVerificationGas * 5n) / 4n,
    }
    const { operation, decision } = await ask({ ...draft, ...fat }, { calculateGasLimits: false })
    expect(decision.sponsored).toBe(true)
    expect(operation).toMatchObject(fat)
    const carried = await carryAsStranger(chain(), await chain().sign(operation, seed))
    const unused = needed.preVerificationGas / 4n + needed.callGasLimit / 20n + 20_000n
    expect(carried.gasCharged - carried.gasUsed).toBeLessThan(unused + carried.gasUsed / 100n)
    // The tank pays for gas at base fee and tip; a stranger keeps the tip, and the price of unused gas.
    const price = carried.paid / carried.gasCharged
    const tip = price - carried.baseFee
    const most = carried.gasUsed * tip + (unused + carried.gasUsed / 100n) * price
    expect(carried.gain).toBeLessThanOrEqual(most)
  })

  test('the most that requests lock is half more than they need, and 100,000 gas', async () => {
    const { draft } = await draftOf('deployed')
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
    const { chargeableGas } = chain().entryPoint
    const most = (chargeableGas(needed) * 3n) / 2n + 400_000n
    expect(chargeableGas(operation)).toBeLessThanOrEqual(most)
  })
})

/* Verification gas that is left over costs nothing, but its prefund is locked: clients of passkeys ask for much of it. */

describe.each(devVersions)('EntryPoint v%s, by a poor tank', (version) => {
  const { chain, draftOf, ask, makeTank } = useSponsoredApp(version)

  test('verification gas far above the need locks at most an eighth of the available balance', async () => {
    const first = parseEther('0.001')
    await makeTank(first)
    const { draft } = await draftOf('deployed')
    const needed = (await ask(draft)).operation
    const { callGasLimit, preVerificationGas, maxFeePerGas, maxPriorityFeePerGas } = needed
    const fees = { maxFeePerGas, maxPriorityFeePerGas }
    const fat = { callGasLimit, preVerificationGas, verificationGasLimit: 2_000_000n, ...fees }
    const asked = () => ask({ ...draft, ...fat }, { calculateGasLimits: false })
    const { chargeableGas } = chain().entryPoint
    const cost = chargeableGas({ ...needed, ...fat }) * needed.maxFeePerGas
    await makeTank(cost * 8n - 1n - first)
    expect((await asked()).decision).toMatchObject({ sponsored: false, code: 'GAS_TOO_HIGH' })
    await makeTank(1n)
    const { decision, operation } = await asked()
    expect(decision).toMatchObject({ sponsored: true })
    expect(operation.verificationGasLimit).toBe(2_000_000n)
    expect(chargeableGas(operation) * operation.maxFeePerGas).toBe(cost)
  })
})
