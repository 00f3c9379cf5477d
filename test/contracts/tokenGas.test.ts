import { type Address, numberToHex, zeroAddress } from 'viem'
import { afterAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import {
  leastVerificationGas06,
  maxTokenCharge,
  tokenPostOpGas,
  tokenVerificationGas,
} from '../../src/paymaster/token/tokenCharge.js'
import type { TokenMode, TokenQuote } from '../../src/paymaster/tokenData.js'
import { signPermit } from '../support/tanks/tokenPermit.js'
import { approval, runs, useTokenTankChain } from '../support/tanks/tokenTankChain.js'
import { VERSIONS } from '../support/world/versionChain.js'

const modes = ['prefund', 'afterwards', 'permit'] as const

describe.each(VERSIONS)('gas limits of a token tank on EntryPoint v%s', (version) => {
  const chain = useTokenTankChain(version)
  let count = 0

  afterAll(() => chain().anvil.stop())

  /** The gas of a TokenUser's own validation, on v0.6 on top of its tank's. */
  const OWN_GAS = 40_000n

  /** An operation of a new user at a tank and for a treasury that hold no tokens, which costs most. */
  const costliest = async (mode: TokenMode, kept: boolean) => {
    count++
    const token = chain().tokens[0]!
    const tank = await chain().createTokenTank(count)
    const seed = `costly ${count}`
    const user = await chain().createUser(seed, token.address)
    if (mode === 'prefund') await chain().asUser(user, approval(token.address, tank))
    const treasury: Address = kept ? zeroAddress : numberToHex(0xfee000 + count, { size: 20 })
    const postOpGas = tokenPostOpGas(chain().entryPoint, { mode, treasury }, 0n)
    const quote = chain().quoteFor(token.address, { mode, treasury, postOpGas })
    const draft = await chain().userOp(user, tank, runs([approval(token.address, tank)]))
    const verification = tokenVerificationGas(chain().entryPoint, draft, mode, 0n)
    const op: Operation =
      version === '0.6'
        ? { ...draft, verificationGasLimit: OWN_GAS + verification }
        : { ...draft, paymasterVerificationGasLimit: verification }
    const value = maxTokenCharge(op, chain().entryPoint, quote)
    const permit =
      mode === 'permit'
        ? await signPermit(chain(), token, seed, { spender: tank, value })
        : undefined
    return { op: chain().pay(op, quote, permit), quote, tank, token: token.address }
  }

  const balanceIn = (quote: TokenQuote, tank: Address) =>
    chain().balanceOf(quote.token, quote.treasury === zeroAddress ? tank : quote.treasury)

  test.each(modes.flatMap((mode) => [[mode, true] as const, [mode, false] as const]))(
    '%s does all of its work within them (tank keeps: %s)',
    async (mode, kept) => {
      const { op, quote, tank } = await costliest(mode, kept)
      const before = await chain().balanceOf(quote.token, op.sender)
      const [outcome] = await chain().handleOps([op])
      expect(outcome).toMatchObject({ success: true, paymaster: tank })
      const paid = before - (await chain().balanceOf(quote.token, op.sender))
      expect(paid).toBeGreaterThan(0n)
      expect(paid).toBeLessThan(maxTokenCharge(op, chain().entryPoint, quote))
      expect(await balanceIn(quote, tank)).toBe(paid)
    },
  )

  test.runIf(version === '0.6')(
    'are refused where they would leave postOp too little',
    async () => {
      const { op, quote } = await costliest('afterwards', true)
      const least = leastVerificationGas06(quote.postOpGas)
      const attempt = (verificationGasLimit: bigint) =>
        chain().failureOf([chain().pay({ ...op, verificationGasLimit }, quote)])
      expect(await attempt(least - 1n)).toBe(
        'AA33 reverted: Tank: verificationGasLimit leaves postOp too little',
      )
      expect(await attempt(least)).toBeUndefined()
    },
  )

  test.runIf(version !== '0.6')('must be those of the quote', async () => {
    const { op } = await costliest('afterwards', true)
    const failure = await chain().failureOf([
      { ...op, paymasterPostOpGasLimit: op.paymasterPostOpGasLimit + 1n },
    ])
    expect(failure).toBe('AA33 reverted: Tank: postOpGas is not the postOpGasLimit')
  })
})
