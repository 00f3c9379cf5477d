import { type Address, encodeFunctionData, parseEventLogs, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { abi as tankAbi } from '../../src/chain/contracts/generated/TokenTank06.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { maxTokenCharge } from '../../src/paymaster/token/tokenCharge.js'
import type { TokenQuote } from '../../src/paymaster/tokenData.js'
import {
  approval,
  blocking,
  hooking,
  listening,
  runs,
  transfer,
  useTokenTankChain,
} from '../support/tanks/tokenTankChain.js'
import { TARGET, VERSIONS } from '../support/world/versionChain.js'

const THIEF: Address = '0x000000000000000000000000000000000000dead'

/** The error by which BlockingToken refuses. */
const REFUSALS = [
  'with a sentence',
  'with one byte',
  'without data',
  'by burning all gas',
  'by false',
  'at length',
]

describe.each(VERSIONS)('attacks on a token tank on EntryPoint v%s', (version) => {
  const chain = useTokenTankChain(version)
  let tank: Address
  let token: Address
  let count = 0

  beforeAll(async () => {
    tank = await chain().createTokenTank(0)
    token = chain().tokens[0]!.address
  })

  afterAll(() => chain().anvil.stop())

  /** A new user with a billion units of `of`, who approved the tank unless `approves` is false. */
  const attacker = async (of = token, approves = true): Promise<Address> => {
    count++
    const user = await chain().createUser(`attacker ${count}`, of)
    if (approves) await chain().asUser(user, approval(of, tank))
    return user
  }

  /** Sends operations; their outcomes, the tank's events and what the tank gained of `of`. */
  const send = async (ops: readonly Operation[], of = token) => {
    const [before, deposit] = [await chain().balanceOf(of, tank), await chain().depositOf(tank)]
    const data = chain().entryPoint.encodeHandleOps(ops, TARGET)
    const receipt = await chain().transact(chain().entryPoint.address, data)
    expect(receipt.status).toBe('success')
    const events = parseEventLogs({ abi: tankAbi, logs: receipt.logs })
    return {
      outcomes: chain().entryPoint.decodeOutcomes(receipt.logs),
      events: events.map(({ eventName }) => eventName),
      gained: (await chain().balanceOf(of, tank)) - before,
      cost: deposit - (await chain().depositOf(tank)),
    }
  }

  const expectPaid = (gained: bigint, cost: bigint, quote: TokenQuote) =>
    expect(gained * 10n ** 24n).toBeGreaterThanOrEqual(cost * quote.rate * BigInt(quote.markup))

  const holdings = (user: Address) => chain().balanceOf(token, user)

  test('spending the tokens inside the operation does not escape a prefund', async () => {
    const user = await attacker()
    const quote = chain().quoteFor(token)
    const draft = await chain().userOp(user, tank, '0x')
    const left = (await holdings(user)) - maxTokenCharge(draft, chain().entryPoint, quote)
    const callData = runs([transfer(token, THIEF, left - 10_000_000n)])
    const { outcomes, gained, cost } = await send([chain().pay({ ...draft, callData }, quote)])
    expect(outcomes[0]).toMatchObject({ success: true })
    expectPaid(gained, cost, quote)
  })

  test('revoking the approval inside the operation does not escape a prefund', async () => {
    const quote = chain().quoteFor(token)
    const callData = runs([approval(token, tank, 0n)])
    const op = chain().pay(await chain().userOp(await attacker(), tank, callData), quote)
    const { outcomes, gained, cost } = await send([op])
    expect(outcomes[0]).toMatchObject({ success: true })
    expectPaid(gained, cost, quote)
  })

  test('spending the tokens inside the operation is taken back when charged afterwards', async () => {
    const user = await attacker()
    const before = await holdings(user)
    const quote = chain().quoteFor(token, { mode: 'afterwards' })
    const callData = runs([transfer(token, THIEF, before)])
    const op = chain().pay(await chain().userOp(user, tank, callData), quote)
    const { outcomes, events, gained, cost } = await send([op])
    expect(outcomes[0]).toMatchObject({ success: false })
    expect(await holdings(user)).toBe(before - gained)
    // v0.6 asks again after it took the operation back, and the tokens are there again.
    expect(events).toEqual(version === '0.6' ? ['TokensPaid'] : [])
    if (version === '0.6') expectPaid(gained, cost, quote)
    else expect(gained).toBe(0n)
  })

  test('an approval that goes with the operation is missed, and nothing else is lost', async () => {
    const user = await attacker(token, false)
    const before = await holdings(user)
    const calls = [approval(token, tank), transfer(token, THIEF, before)]
    const quote = chain().quoteFor(token, { mode: 'afterwards' })
    const honest = await attacker()
    const ops = [
      chain().pay(await chain().userOp(user, tank, runs(calls)), quote),
      chain().pay(await chain().userOp(honest, tank, runs([])), quote),
    ]
    const { outcomes, events } = await send(ops)
    expect(outcomes.map(({ success }) => success)).toEqual([false, true])
    expect(events).toEqual(version === '0.6' ? ['PaymentMissed', 'TokensPaid'] : ['TokensPaid'])
    expect(await holdings(user)).toBe(before)
  })

  test('an operation that reverts with its approval is reported as missed', async () => {
    const user = await attacker(token, false)
    const quote = chain().quoteFor(token, { mode: 'afterwards' })
    const callData = runs([approval(token, tank)], 0n, 4n)
    const op = chain().pay(await chain().userOp(user, tank, callData), quote)
    const { outcomes, events, gained } = await send([op])
    expect(outcomes[0]).toMatchObject({ success: false })
    expect([events, gained]).toEqual([['PaymentMissed'], 0n])
  })

  test('burning every limit does not escape a prefund', async () => {
    const user = await attacker()
    await chain().setValidationLeaves(user, version === '0.6' ? 150_000n : 30_000n)
    const quote = chain().quoteFor(token)
    const op = chain().pay(await chain().userOp(user, tank, runs([], 1_000n, 4_000n)), quote)
    const { outcomes, gained, cost } = await send([op])
    expect(outcomes[0]).toMatchObject({ success: false })
    expectPaid(gained, cost, quote)
    expect(gained).toBeLessThanOrEqual(maxTokenCharge(op, chain().entryPoint, quote))
  })

  describe('a token with hooks (ERC-777)', () => {
    let hooked: Address

    beforeAll(async () => {
      hooked = await chain().deployOdd('HookToken')
    })

    const listener = async (): Promise<Address> => {
      const user = await attacker(hooked)
      await chain().asUser(user, listening(hooked))
      return user
    }

    test('cannot enter the tank or the EntryPoint again from the refund', async () => {
      const quote = chain().quoteFor(hooked)
      const inner = chain().pay(await chain().userOp(await attacker(hooked), tank, runs([])), quote)
      const entries = [
        {
          to: chain().entryPoint.address,
          data: chain().entryPoint.encodeHandleOps([inner], TARGET),
        },
        {
          to: tank,
          data: encodeFunctionData({
            abi: tankAbi,
            functionName: 'withdrawToken',
            args: [hooked, THIEF, 1n],
          }),
        },
      ]
      for (const entry of entries) {
        const user = await listener()
        const op = chain().pay(
          { ...(await chain().userOp(user, tank, hooking(user, entry))), callGasLimit: 2_000_000n },
          quote,
        )
        const { outcomes, gained, cost } = await send([op], hooked)
        // The hook fails, so the refund stays in the tank and the operation stands.
        expect(outcomes[0]).toMatchObject({ success: true })
        expect(gained).toBe(maxTokenCharge(op, chain().entryPoint, quote))
        expectPaid(gained, cost, quote)
        expect(await chain().balanceOf(hooked, THIEF)).toBe(0n)
      }
    })

    test.each([zeroAddress, THIEF])(
      'cannot burn gas at the expense of the tank (treasury %s)',
      async (treasury) => {
        const user = await listener()
        const quote = chain().quoteFor(hooked, { treasury, postOpGas: 60_000n })
        const burning = hooking(user, { to: TARGET, data: '0x' }, true)
        const op = chain().pay(await chain().userOp(user, tank, burning), quote)
        const { outcomes, gained, cost } = await send([op], hooked)
        expect(outcomes[0]).toMatchObject({ success: true })
        // Nothing is left to pay the treasury with, so its share stays here too.
        expect(gained).toBe(maxTokenCharge(op, chain().entryPoint, quote))
        expectPaid(gained, cost, quote)
      },
    )

    test('cannot pretend a prefund by moving the tokens away in time', async () => {
      const user = await listener()
      const theft = transfer(hooked, THIEF, 10n ** 9n - 1n)
      await chain().asUser(user, { to: user, data: hooking(user, theft) })
      const op = chain().pay(await chain().userOp(user, tank, runs([])), chain().quoteFor(hooked))
      expect(await chain().failureOf([op])).toMatch(/^AA33 reverted/)
    })
  })

  describe('a token that refuses', () => {
    let stubborn: Address

    beforeAll(async () => {
      stubborn = await chain().deployOdd('BlockingToken')
    })

    test.each(REFUSALS.map((refusal, index) => [refusal, index] as const))(
      'the refund %s leaves it in the tank',
      async (_, refusal) => {
        const user = await attacker(stubborn)
        const quote = chain().quoteFor(stubborn)
        const callData = runs([blocking(stubborn, user, refusal)])
        const op = chain().pay(await chain().userOp(user, tank, callData), quote)
        const { outcomes, events, gained } = await send([op], stubborn)
        expect(outcomes[0]).toMatchObject({ success: true })
        expect(events).toEqual(['TokensPaid'])
        expect(gained).toBe(maxTokenCharge(op, chain().entryPoint, quote))
      },
    )

    test.each(REFUSALS.map((refusal, index) => [refusal, index] as const))(
      'the charge %s costs one operation and not its bundle',
      async (_, refusal) => {
        const user = await attacker(stubborn)
        const other = await attacker(stubborn)
        const quote = chain().quoteFor(stubborn, { mode: 'afterwards' })
        const callData = runs([blocking(stubborn, user, refusal)])
        const ops = [
          chain().pay(await chain().userOp(user, tank, callData), quote),
          chain().pay(await chain().userOp(other, tank, runs([])), quote),
        ]
        const { outcomes, events } = await send(ops, stubborn)
        expect(outcomes.map(({ success }) => success)).toEqual([false, true])
        // Taken back, the block is gone too, so v0.6 gets its charge in the second postOp.
        expect(events).toEqual(version === '0.6' ? ['TokensPaid', 'TokensPaid'] : ['TokensPaid'])
      },
    )
  })

  test('a token that keeps a fee is refused as prefund', async () => {
    const fee = await chain().deployOdd('FeeToken')
    const op = chain().pay(
      await chain().userOp(await attacker(fee), tank, runs([])),
      chain().quoteFor(fee),
    )
    expect(await chain().failureOf([op])).toBe('AA33 reverted: Tank: the token kept a part')
  })

  test.each(['prefund', 'afterwards'] as const)(
    'a token without answers pays (%s)',
    async (mode) => {
      const silent = await chain().deployOdd('SilentToken')
      const quote = chain().quoteFor(silent, { mode })
      const op = chain().pay(await chain().userOp(await attacker(silent), tank, runs([])), quote)
      const { outcomes, gained, cost } = await send([op], silent)
      expect(outcomes[0]).toMatchObject({ success: true })
      expectPaid(gained, cost, quote)
    },
  )

  test('a token without code is refused', async () => {
    const op = chain().pay(
      await chain().userOp(await attacker(), tank, runs([])),
      chain().quoteFor(THIEF),
    )
    expect(await chain().failureOf([op])).toBe('AA33 reverted: Tank: the token kept a part')
  })

  test.each([
    ['no allowance', 'prefund', 'Tank: the token refused the prefund'],
    ['too few tokens', 'afterwards', 'Tank: the sender has too few tokens'],
  ] as const)('%s is a sentence (%s)', async (_, mode, sentence) => {
    count++
    const user = await chain().createUser(`poor ${count}`, token, 1n)
    const op = chain().pay(
      await chain().userOp(user, tank, runs([])),
      chain().quoteFor(token, { mode }),
    )
    expect(await chain().failureOf([op])).toBe(`AA33 reverted: ${sentence}`)
  })
})
