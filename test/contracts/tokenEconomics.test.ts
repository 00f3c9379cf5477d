import fc from 'fast-check'
import { type Address, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import type { Operation } from '../../src/erc4337/operation.js'
import {
  leastVerificationGas06,
  maxTokenCharge,
  tokenPostOpGas,
  tokenVerificationGas,
} from '../../src/paymaster/token/tokenCharge.js'
import type { TokenMode, TokenQuote } from '../../src/paymaster/tokenData.js'
import { randomRuns } from '../support/runs.js'
import { signPermit } from '../support/tanks/tokenPermit.js'
import { approval, runs, useTokenTankChain } from '../support/tanks/tokenTankChain.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { stubTokenData } from '../support/tanks/stubTokenData.js'

const TREASURY: Address = '0x000000000000000000000000000000000007e150'

/** An operation of the test: limits are `inflated` by tenths of what is needed, 10 = as needed. */
type Story = {
  readonly mode: TokenMode
  readonly hasTreasury: boolean
  readonly behaviour: 'succeeds' | 'reverts' | 'reverts at length' | 'burns its call gas'
  readonly burnsValidation: boolean
  readonly inflated: {
    readonly call: number
    readonly verification: number
    readonly postOp: number
  }
  readonly preVerificationGas: number
  readonly maxFee: bigint
  readonly tip: bigint
  readonly rate: bigint
  readonly markup: number
  /** The fall of the token until the block, in hundredths of the fall that the markup covers. */
  readonly fall: number
}

const tenths = fc.integer({ min: 10, max: 100 })

const story: fc.Arbitrary<Story> = fc
  .record({
    mode: fc.constantFrom('prefund' as const, 'afterwards' as const, 'permit' as const),
    hasTreasury: fc.boolean(),
    behaviour: fc.constantFrom(
      ...(['succeeds', 'reverts', 'reverts at length', 'burns its call gas'] as const),
    ),
    burnsValidation: fc.boolean(),
    inflated: fc.record({ call: tenths, verification: tenths, postOp: tenths }),
    preVerificationGas: fc.integer({ min: 0, max: 100_000 }),
    maxFee: fc.bigInt({ min: 1n, max: 10n ** 11n }),
    tip: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    // From a unit that is worth more than any operation to the rate of an 18-decimals token.
    rate: fc.constantFrom(1n, 3_000_000_000n, 1_234_567_891_234n, 3n * 10n ** 21n),
    markup: fc.integer({ min: 1_000_000, max: 1_300_000 }),
    fall: fc.integer({ min: -100, max: 100 }),
  })
  .map(({ tip, ...drawn }) => ({
    ...drawn,
    tip: tip % (drawn.maxFee + 1n),
    // Who burns every limit in mode afterwards escapes (tokens.md): that is an attack's test.
    burnsValidation: drawn.burnsValidation && drawn.mode !== 'afterwards',
  }))

/** Token units for 1e18 wei when the block is mined, the price having moved within what the markup bears. */
function marketRate({ rate, markup, fall }: Story): bigint {
  return rate + (rate * BigInt(markup - 1_000_000) * BigInt(fall)) / 100_000_000n
}

function inflate(gas: bigint, tenth: number): bigint {
  return (gas * BigInt(tenth)) / 10n
}

describe.each(VERSIONS)('economics of a token tank on EntryPoint v%s', (version) => {
  const chain = useTokenTankChain(version)
  let tank: Address
  let token: Address

  beforeAll(async () => {
    tank = await chain().createTokenTank(0, 10n ** 20n)
    token = chain().tokens[1]!.address
  })

  afterAll(() => chain().anvil.stop())

  /** The part of verificationGasLimit that EntryPoint and, on v0.6, tank still need. */
  const LEFT_BY_VALIDATION = version === '0.6' ? 250_000n : 40_000n

  const quoteOf = ({ mode, hasTreasury, inflated, rate, markup }: Story): TokenQuote => {
    const treasury = hasTreasury ? TREASURY : zeroAddress
    const postOpGas = inflate(
      tokenPostOpGas(chain().entryPoint, { mode, treasury }, 0n),
      inflated.postOp,
    )
    return chain().quoteFor(token, { mode, treasury, postOpGas, rate, markup })
  }

  const callDataOf = ({ behaviour }: Story) => {
    const leave = behaviour === 'burns its call gas' ? 2_000n : 0n
    const size = { reverts: 4n, 'reverts at length': 4_000n }[behaviour as string] ?? 0n
    return runs([approval(token, tank)], leave, size)
  }

  /** The story's operation as the tank's signer would sign it. */
  const operationOf = async (
    scenario: Story,
    seed: string,
    sender: Address,
  ): Promise<Operation> => {
    const quote = quoteOf(scenario)
    const draft = { ...(await chain().userOp(sender, tank, callDataOf(scenario))) }
    const verification = tokenVerificationGas(chain().entryPoint, draft, scenario.mode, 0n)
    const least = leastVerificationGas06(quote.postOpGas)
    const together = verification + 40_000n
    const own = version === '0.6' ? (together > least ? together : least) : 40_000n
    const op: Operation = {
      ...draft,
      maxFeePerGas: scenario.maxFee,
      maxPriorityFeePerGas: scenario.tip,
      preVerificationGas: BigInt(scenario.preVerificationGas),
      callGasLimit: inflate(90_000n, scenario.inflated.call),
      verificationGasLimit: inflate(own, scenario.inflated.verification),
      ...(version !== '0.6' && {
        paymasterVerificationGasLimit: inflate(verification, scenario.inflated.verification),
        paymasterPostOpGasLimit: quote.postOpGas,
      }),
      paymasterData: stubTokenData(quote),
    }
    const value = maxTokenCharge(op, chain().entryPoint, quote)
    await chain().mint(token, sender, value)
    if (scenario.mode !== 'permit') await chain().asUser(sender, approval(token, tank))
    const terms = { spender: tank, value }
    const permit =
      scenario.mode === 'permit'
        ? await signPermit(chain(), chain().tokens[1]!, seed, terms)
        : undefined
    return chain().pay(op, quote, permit)
  }

  test('the tank never ends with less value than it paid, no user pays more than the most', async () => {
    const stories = fc.sample(story, { seed: 4_337, numRuns: randomRuns(60) })
    let paidForNothing = 0
    for (const [index, scenario] of stories.entries()) {
      const seed = `story ${index}`
      const user = await chain().createUser(seed, token, 0n)
      if (scenario.burnsValidation) await chain().setValidationLeaves(user, LEFT_BY_VALIDATION)
      const op = await operationOf(scenario, seed, user)
      const quote = quoteOf(scenario)
      const holdings = () =>
        Promise.all([
          chain().depositOf(tank),
          chain().balanceOf(token, user),
          chain().balanceOf(token, tank),
          chain().balanceOf(token, TREASURY),
        ])
      const [deposit, own, kept, sent] = await holdings()
      const label = JSON.stringify(scenario, (_, value) =>
        typeof value === 'bigint' ? `${value}` : value,
      )
      expect(await chain().failureOf([op]), label).toBeUndefined()
      await anvilClient(chain().anvil.url).setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n })
      const outcomes = await chain().handleOps([op])
      const [depositNow, ownNow, keptNow, sentNow] = await holdings()
      const cost = deposit! - depositNow!
      const gained = keptNow! - kept! + sentNow! - sent!
      expect(cost, label).toBe(outcomes[0]!.actualGasCost)
      expect(gained, label).toBe(own! - ownNow!)
      expect(gained * 10n ** 24n, label).toBeGreaterThanOrEqual(
        cost * quote.rate * BigInt(quote.markup),
      )
      expect(gained * 10n ** 18n, label).toBeGreaterThanOrEqual(cost * marketRate(scenario))
      expect(gained, label).toBeLessThanOrEqual(maxTokenCharge(op, chain().entryPoint, quote))
      if (!outcomes[0]!.success) paidForNothing++
    }
    // Scenarios of all kinds happened.
    expect(paidForNothing).toBeGreaterThan(stories.length / 4)
    expect(paidForNothing).toBeLessThan((stories.length * 5) / 6)
  })
})
