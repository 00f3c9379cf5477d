import { type Address, parseEventLogs, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { abi as tankAbi } from '../../src/chain/contracts/generated/TokenTank06.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { maxTokenCharge, tokenCharge } from '../../src/paymaster/token/tokenCharge.js'
import type { TokenQuote } from '../../src/paymaster/tokenData.js'
import { signPermit } from '../support/tanks/tokenPermit.js'
import { approval, runs, useTokenTankChain } from '../support/tanks/tokenTankChain.js'
import { VERSIONS } from '../support/world/versionChain.js'

const TREASURY: Address = '0x000000000000000000000000000000000007e150'

describe.each(VERSIONS)('a token tank on EntryPoint v%s', (version) => {
  const chain = useTokenTankChain(version)
  let tank: Address
  let token: Address

  beforeAll(async () => {
    tank = await chain().createTokenTank(0)
    token = chain().tokens[0]!.address
  })

  afterAll(() => chain().anvil.stop())

  /** Sends the operation; what it cost the tank in wei, and what the user paid and to whom. */
  const settle = async (op: Operation, quote: TokenQuote) => {
    const holders = [op.sender, tank, TREASURY]
    const balances = () => Promise.all(holders.map((each) => chain().balanceOf(token, each)))
    const [before, deposit] = [await balances(), await chain().depositOf(tank)]
    const receipt = await chain().transact(
      chain().entryPoint.address,
      chain().entryPoint.encodeHandleOps([op], TREASURY),
    )
    const [outcome] = chain().entryPoint.decodeOutcomes(receipt.logs)
    const [user, kept, sent] = (await balances()).map((after, index) => after - before[index]!)
    const cost = deposit - (await chain().depositOf(tank))
    expect(outcome).toMatchObject({ success: true, paymaster: tank, actualGasCost: cost })
    expect(user! + kept! + sent!).toBe(0n)
    const paid = -user!
    const [event] = parseEventLogs({ abi: tankAbi, eventName: 'TokensPaid', logs: receipt.logs })
    expect(event!.args).toMatchObject({ userOpHash: outcome!.userOpHash, charged: paid })
    expect(event!.args.charged).toBe(tokenCharge(event!.args.cost, quote))
    expect(paid).toBeGreaterThanOrEqual(tokenCharge(cost, quote))
    expect(paid).toBeLessThanOrEqual(maxTokenCharge(op, chain().entryPoint, quote))
    return { cost, paid, kept, sent, gas: receipt.gasUsed, used: outcome!.actualGasUsed }
  }

  test('prefund: takes what was approved before and gives back the rest', async () => {
    const user = await chain().createUser('prefund', token)
    await chain().asUser(user, approval(token, tank))
    const quote = chain().quoteFor(token)
    const op = chain().pay(await chain().userOp(user, tank, runs([])), quote)
    const { paid, kept } = await settle(op, quote)
    expect(kept).toBe(paid)
  })

  test('afterwards: takes what the operation itself approves', async () => {
    const user = await chain().createUser('afterwards', token)
    const quote = chain().quoteFor(token, { mode: 'afterwards' })
    const op = chain().pay(await chain().userOp(user, tank, runs([approval(token, tank)])), quote)
    const { paid, kept } = await settle(op, quote)
    expect(kept).toBe(paid)
  })

  test('permit: takes what a signed permit allows, without any transaction before', async () => {
    const user = await chain().createUser('permit', token)
    const quote = chain().quoteFor(token, { mode: 'permit' })
    const draft = await chain().userOp(user, tank, runs([]))
    const value = maxTokenCharge(draft, chain().entryPoint, quote)
    const permit = await signPermit(chain(), chain().tokens[0]!, 'permit', { spender: tank, value })
    const { paid, kept } = await settle(chain().pay(draft, quote, permit), quote)
    expect(kept).toBe(paid)
  })

  test.each(['prefund', 'afterwards'] as const)('%s: a treasury gets the charge', async (mode) => {
    const user = await chain().createUser(`treasury ${mode}`, token)
    await chain().asUser(user, approval(token, tank))
    const quote = chain().quoteFor(token, { mode, treasury: TREASURY })
    const op = chain().pay(await chain().userOp(user, tank, runs([])), quote)
    const { paid, kept, sent } = await settle(op, quote)
    expect([kept, sent]).toEqual([0n, paid])
  })

  test('takes a markup, and rounds every part of a unit up', async () => {
    const user = await chain().createUser('markup', token)
    await chain().asUser(user, approval(token, tank))
    for (const [rate, markup, least] of [
      [1n, 1_000_000, 1n],
      [3_000_000_000n, 1_070_000, 1n],
    ] as const) {
      const quote = chain().quoteFor(token, { rate, markup, treasury: zeroAddress })
      const op = chain().pay(await chain().userOp(user, tank, runs([])), quote)
      const { paid } = await settle(op, quote)
      expect(paid).toBeGreaterThanOrEqual(least)
    }
  })
})
