import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import type { Permit, TokenQuote } from '../../src/paymaster/tokenData.js'
import { signPermit } from '../support/tanks/tokenPermit.js'
import { entryPointCalls } from '../support/tanks/tokenTankCalls.js'
import {
  approval,
  runs,
  tokenTankChain,
  useTokenTankChain,
} from '../support/tanks/tokenTankChain.js'
import { openGround } from '../support/world/ground.js'
import { TARGET, VERSIONS } from '../support/world/versionChain.js'
import { stubTokenData } from '../support/tanks/stubTokenData.js'

const OTHER: Address = '0x0000000000000000000000000000000000000b0b'

describe.each(VERSIONS)('signed quotes on EntryPoint v%s', (version) => {
  const chain = useTokenTankChain(version)
  let tank: Address
  let token: Address
  let user: Address
  let op: Operation
  let quote: TokenQuote

  beforeAll(async () => {
    tank = await chain().createTokenTank(0)
    token = chain().tokens[0]!.address
    user = await chain().createUser('signed', token)
    await chain().asUser(user, approval(token, tank))
    quote = chain().quoteFor(token)
    op = chain().pay(await chain().userOp(user, tank, runs([])), quote)
  })

  afterAll(() => chain().anvil.stop())

  test('hold for the operation they were signed for', async () => {
    expect(await chain().failureOf([op])).toBeUndefined()
  })

  const altered: Partial<Operation> = {
    callData: runs([], 0n, 1n),
    callGasLimit: 1_000_000n,
    verificationGasLimit: 3_000_000n,
    preVerificationGas: 600_000n,
    maxFeePerGas: 30_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_001n,
    nonce: 1n << 64n,
    ...(version !== '0.6' && { paymasterVerificationGasLimit: 2_000_000n }),
  }

  test.each(Object.keys(altered) as (keyof typeof altered)[])(
    'do not hold for an inflated or altered %s',
    async (field) => {
      expect(await chain().failureOf([{ ...op, [field]: altered[field] }])).toMatch(/^AA34/)
    },
  )

  test('do not hold for another sender', async () => {
    const other = await chain().createUser('other', token)
    await chain().asUser(other, approval(token, tank))
    expect(await chain().failureOf([{ ...op, sender: other }])).toMatch(/^AA34/)
  })

  /** The operation with the signature for `op`, but other terms in the data. */
  const withTerms = (terms: Partial<TokenQuote>): Operation => {
    const stub = stubTokenData({ ...quote, ...terms })
    const signature = op.paymasterData.slice(2 + 2 * 93, 2 + 2 * 158)
    return { ...op, paymasterData: `${stub.slice(0, 2 + 2 * 93)}${signature}` as Hex }
  }

  test.each<[string, Partial<TokenQuote>]>([
    ['rate', { rate: 1n }],
    ['markup', { markup: 0 }],
    ['mode', { mode: 'afterwards' }],
    ['treasury', { treasury: OTHER }],
    ['end', { validUntil: 2 ** 40 }],
    ['beginning', { validAfter: 1 }],
  ])('do not hold for an altered %s', async (_, terms) => {
    expect(await chain().failureOf([withTerms({})])).toBeUndefined()
    expect(await chain().failureOf([withTerms(terms)])).toMatch(/^AA34/)
  })

  test('do not hold for another token', async () => {
    const [, other] = chain().tokens
    await chain().mint(other!.address, user, 10n ** 18n)
    await chain().asUser(user, approval(other!.address, tank))
    expect(await chain().failureOf([withTerms({ token: other!.address })])).toMatch(/^AA34/)
  })

  test('do not hold for less gas in postOp', async () => {
    const less = { ...withTerms({ postOpGas: 50_000n }) }
    const limited = version === '0.6' ? less : { ...less, paymasterPostOpGasLimit: 50_000n }
    expect(await chain().failureOf([limited])).toMatch(/^AA34/)
  })

  test('expire, and do not begin early', async () => {
    const now = Number((await chain().wallet.getBlock()).timestamp)
    const at = (validAfter: number, validUntil: number) =>
      chain().failureOf([chain().pay(op, { ...quote, validAfter, validUntil })])
    expect(await at(0, now - 1)).toMatch(/^AA32/)
    expect(await at(now + 1000, 0)).toMatch(/^AA32/)
    expect(await at(now - 1, now + 1000)).toBeUndefined()
  })

  test('are used once', async () => {
    const [outcome] = await chain().handleOps([op])
    expect(outcome).toMatchObject({ success: true })
    expect(await chain().failureOf([op])).toMatch(/^AA25/)
    op = chain().pay(await chain().userOp(user, tank, runs([])), quote)
  })

  test('do not hold at another tank', async () => {
    const twin = await chain().createTokenTank(1)
    await chain().asUser(user, approval(token, twin))
    expect(await chain().failureOf([{ ...op, paymaster: twin }])).toMatch(/^AA34/)
  })

  test('do not hold on another chain', async () => {
    const elsewhere = await openGround({ chainId: 4242 })
    const other = tokenTankChain(elsewhere.at(version))
    try {
      expect(await other.createTokenTank(0)).toBe(tank)
      const twin = await other.createUser('signed', token)
      await other.asUser(twin, approval(token, tank))
      const fresh = { ...op, nonce: 0n }
      expect(await other.failureOf([chain().pay(fresh, quote)])).toMatch(/^AA34/)
      expect(await other.failureOf([other.pay(fresh, quote)])).toBeUndefined()
    } finally {
      await elsewhere.stop()
    }
  })

  test('are answered to the own EntryPoint only', async () => {
    for (const call of entryPointCalls(chain(), op)) {
      await expect(chain().wallet.call({ account: TARGET, to: tank, data: call })).rejects.toThrow(
        'Tank: only the EntryPoint',
      )
    }
  })

  test('are refused with a sentence in data of another length or mode', () =>
    fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.nat({ max: 255 }),
        async (bytes, mode) => {
          fc.pre(mode > 2 || bytes.length + 1 !== (mode === 2 ? 287 : 158))
          const paymasterData: Hex = `0x${Buffer.from([mode, ...bytes]).toString('hex')}`
          const sentence = mode > 2 ? 'unknown token mode' : 'token data of another length'
          expect(await chain().failureOf([{ ...op, paymasterData }])).toBe(
            `AA33 reverted: Tank: ${sentence}`,
          )
        },
      ),
      { numRuns: 30 },
    ))

  describe('a permit', () => {
    const permitFor = (seed: string, spender: Address, deadline?: bigint): Promise<Permit> => {
      const allowed = { spender, value: 10n ** 9n, ...(deadline !== undefined && { deadline }) }
      return signPermit(chain(), chain().tokens[0]!, seed, allowed)
    }
    const payWith = async (seed: string, permit: Permit): Promise<Operation> => {
      const owner = await chain().createUser(seed, token)
      const terms = chain().quoteFor(token, { mode: 'permit' })
      return chain().pay(await chain().userOp(owner, tank, runs([])), terms, permit)
    }
    const permitted = async (seed: string, spender: Address, deadline?: bigint) =>
      payWith(seed, await permitFor(seed, spender, deadline))

    test('for somebody else, or that has expired, does not pay', async () => {
      const refused = 'AA33 reverted: Tank: the token refused the prefund'
      expect(await chain().failureOf([await permitted('elsewhere', OTHER)])).toBe(refused)
      expect(await chain().failureOf([await permitted('late', tank, 1n)])).toBe(refused)
    })

    test('that somebody used before still pays', async () => {
      const { signature, ...terms } = await permitFor('early', tank)
      const broken = { ...terms, signature: `${signature.slice(0, -2)}00` as Hex }
      const early = await payWith('early', broken)
      await chain().asUser(early.sender, approval(token, tank, 10n ** 9n))
      expect(await chain().failureOf([early])).toBeUndefined()
    })

    test('cannot be changed behind the signature of the tank, in no byte', async () => {
      const early = await permitted('bound', tank)
      await chain().asUser(early.sender, approval(token, tank, 10n ** 9n))
      expect(await chain().failureOf([early])).toBeUndefined()
      for (const at of [158, 189, 190, 221, 222, 253, 254, 285, 286]) {
        const data = Buffer.from(early.paymasterData.slice(2), 'hex')
        data[at]! ^= 1
        const paymasterData: Hex = `0x${data.toString('hex')}`
        expect(await chain().failureOf([{ ...early, paymasterData }])).toMatch(/^AA34/)
      }
    })
  })
})
