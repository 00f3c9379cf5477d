import { type Address, hexToBigInt, parseEther, slice } from 'viem'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AccountCall } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { limitProfiles } from '../../src/erc4337/rules/index.js'
import { checkRules } from '../../src/simulation/checkRules.js'
import { createNodeEngine } from '../../src/simulation/node/nodeEngine.js'
import { contracts } from '../support/chain/v06Contracts.js'
import { type SenderKind, senderKinds, VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

const stakePolicy = { minimumStake: 1n, minimumUnstakeDelay: 1n }
const rules = {
  mode: 'full',
  limits: limitProfiles.lenient,
  stakePolicy,
  exceptions: [],
} as const

type Payer = 'itself' | 'a tank'

describe.each(VERSIONS)('in-process, EntryPoint v%s:', (version) => {
  const chain = useVersionChain(version)
  let tank: Address
  let count = 0

  beforeAll(async () => {
    tank = await chain().createTank(0)
    await chain().engine.heads.refresh()
  })
  beforeEach(() => {
    count++
  })

  /** An operation of a new sender, with what pays for it, not signed by the account. */
  async function build(
    kind: SenderKind,
    payer: Payer,
    call?: AccountCall,
    changes?: Partial<Operation>,
  ) {
    const seed = `sender ${count} ${kind} ${payer}`
    const drafted = { ...(await chain().draft(kind, seed, call)), ...changes }
    if (payer === 'itself') await chain().fund(drafted.sender)
    const op = payer === 'itself' ? drafted : await chain().sponsor(drafted, tank)
    await chain().engine.heads.refresh()
    return { seed, op }
  }

  async function signed(
    kind: SenderKind,
    payer: Payer,
    call?: AccountCall,
    changes?: Partial<Operation>,
  ) {
    const { op, seed } = await build(kind, payer, call, changes)
    return chain().sign(op, seed)
  }

  /** preOpGas and prefund as the EntryPoint computed them in a transaction. */
  async function onChain(hash: `0x${string}`) {
    const { innerHandleOp, preOpGasAt, prefundAt } = chain().entryPoint.callLayout
    type Frame = { input: `0x${string}`; calls?: Frame[] }
    const trace = (await chain().tester.request({
      method: 'debug_traceTransaction',
      params: [hash, { tracer: 'callTracer' }],
    } as never)) as Frame
    const input = trace.calls!.find(({ input }) => input.startsWith(innerHandleOp))!.input
    const word = (at: number) => hexToBigInt(slice(input, at, at + 32))
    return { preOpGas: word(preOpGasAt), prefund: word(prefundAt) }
  }

  const cases = senderKinds(version).flatMap((kind) =>
    (['itself', 'a tank'] as const).map((payer) => [kind, payer] as const),
  )

  describe.each(cases)('a %s sender paid by %s', (kind, payer) => {
    test('is validated and executed as the chain does it, to the unit of gas', async () => {
      const op = await signed(kind, payer, chain().onTarget('write', 0n, 2n))
      const validated = await chain().engine.validate(chain().entryPoint, op)
      const executed = await chain().engine.execute(chain().entryPoint, op)
      const { hash, outcome } = await chain().send(op)
      const { preOpGas, prefund } = await onChain(hash)
      expect(outcome).toMatchObject({ success: true, sender: op.sender })
      const verificationGasUsed = preOpGas - op.preVerificationGas
      expect(validated).toEqual({
        ok: true,
        witness: expect.any(Function),
        validation: {
          accountSignatureFailed: false,
          paymasterSignatureFailed: false,
          validAfter: 0,
          validUntil: 0,
          verificationGasUsed,
          blocks: { after: 0n, until: 0n },
          contextSize: 0,
          before: {
            authority: kind === 'deployed' ? 'delegated' : payer === 'itself' ? 'plain' : 'absent',
            hasDeposit: expect.any(Boolean),
          },
          prefund,
          observed: expect.objectContaining({
            kind: 'record',
            senderExists: kind !== 'counterfactual',
            deposit: op.paymaster && expect.any(BigInt),
          }),
        },
      })
      if (!validated.ok) throw new Error('it was refused')
      const { observed } = validated.validation
      const { violations } = checkRules(chain().entryPoint, op, observed, rules)
      expect(violations).toEqual([])
      expect(prefund).toBe(chain().entryPoint.requiredPrefund(op))
      expect(executed).toMatchObject({
        ok: true,
        success: true,
        revertData: '0x',
        validation: { verificationGasUsed },
      })
    })

    test('with a wrong signature of the account is reported, not refused', async () => {
      const { op } = await build(kind, payer)
      const wrong = await chain().sign(op, 'somebody else')
      if (kind !== 'delegated') expect(await chain().failureOf([wrong])).toMatch(/^AA24/)
      expect(await chain().engine.validate(chain().entryPoint, wrong)).toMatchObject({
        ok: true,
        validation: { accountSignatureFailed: true, paymasterSignatureFailed: false },
      })
      expect(await chain().engine.execute(chain().entryPoint, wrong)).toMatchObject({
        success: true,
      })
    })

    test('with a wrong nonce is refused in the words of the EntryPoint', async () => {
      const op = await signed(kind, payer, undefined, { nonce: (7n << 64n) | 5n })
      expect(await chain().engine.validate(chain().entryPoint, op)).toMatchObject({
        ok: false,
        failure: { index: 0, code: 'AA25', message: 'AA25 invalid account nonce' },
      })
    })

    test('with a call that reverts tells what the chain tells', async () => {
      for (const call of [chain().onTarget('fail', 'too late'), chain().onTarget('failCustom')]) {
        const op = await signed(kind, payer, call)
        expect(await chain().engine.validate(chain().entryPoint, op)).toMatchObject({ ok: true })
        const executed = await chain().engine.execute(chain().entryPoint, op)
        const bounds = { call: 1_000_000n, verification: 3_000_000n }
        const rich = { [op.sender]: { balance: '0xffffffffffffffffff' } } as const
        const measured = await chain().engine.measure(chain().entryPoint, op, bounds, rich)
        const { outcome } = await chain().undone(() => chain().send(op))
        expect(outcome).toMatchObject({ success: false })
        expect(outcome!.reason.length).toBeGreaterThan(10)
        expect(executed).toMatchObject({ ok: true, success: false, revertData: outcome!.reason })
        expect(measured).toEqual({ outcome: 'reverted', revertData: outcome!.reason })
      }
    })

    test('with a poor payer is refused', async () => {
      const { op, seed } = await build(kind, payer, undefined, {
        maxFeePerGas: parseEther('1'),
        maxPriorityFeePerGas: 1n,
      })
      const result = await chain().engine.validate(chain().entryPoint, await chain().sign(op, seed))
      expect(result).toMatchObject({ ok: false, failure: { index: 0 } })
      expect(result).toMatchObject({ failure: { code: payer === 'itself' ? 'AA21' : 'AA31' } })
    })

    test('out of verification gas is refused', async () => {
      const op = await signed(kind, payer, undefined, { verificationGasLimit: 20_000n })
      const result = await chain().engine.validate(chain().entryPoint, op)
      expect(result).toMatchObject({ ok: false })
      if (kind !== 'delegated') {
        const said = await chain().failureOf([op])
        expect(result).toMatchObject({ failure: { message: said } })
      }
    })
  })

  test('a paymaster with a wrong signature is reported separately, with its time range', async () => {
    const drafted = await chain().draft('deployed', `sender ${count}`)
    const terms = { validUntil: 2_000_000_000, validAfter: 17 }
    const good = await chain().sponsor(drafted, tank, terms)
    const wrong = await chain().sponsor(drafted, tank, {
      ...terms,
      signerKey: `0x${'77'.repeat(32)}`,
    })
    await chain().engine.heads.refresh()
    for (const [op, failed] of [[good, false] as const, [wrong, true] as const]) {
      expect(
        await chain().engine.validate(
          chain().entryPoint,
          await chain().sign(op, `sender ${count}`),
        ),
      ).toMatchObject({
        ok: true,
        validation: {
          accountSignatureFailed: false,
          paymasterSignatureFailed: failed,
          validUntil: 2_000_000_000,
          validAfter: 17,
        },
      })
    }
    expect(await chain().engine.validate(chain().entryPoint, wrong)).toMatchObject({
      validation: { accountSignatureFailed: true, paymasterSignatureFailed: true },
    })
  })

  test.each([
    ['RefusingAccount', 'AA23', /^AA23 reverted: not my owner$/],
    ['AggregatedAccount', 'AA24', /aggregator 0x0{37}a66 is not supported/],
    ['SilentAccount', version === '0.6' || version === '0.7' ? undefined : 'AA23', /reverted/],
  ])('a %s is refused with what it says', async (name, code, message) => {
    const sender: Address = `0x00000000000000000000000000000000000${name.length}ac`.padEnd(
      42,
      '0',
    ) as Address
    await chain().tester.setCode({ address: sender, bytecode: contracts[name]!.runtime })
    await chain().deposit(sender, parseEther('1'))
    await chain().engine.heads.refresh()
    const drafted = await chain().draft('counterfactual', `sender ${count}`)
    const op = { ...drafted, sender, factory: undefined, factoryData: '0x' as const }
    const result = await chain().engine.validate(chain().entryPoint, op)
    expect(result).toMatchObject({
      ok: false,
      failure: { code, message: expect.stringMatching(message) },
    })
  })

  test('senders and paymasters without code are named', async () => {
    const nobody: Address = '0x00000000000000000000000000000000000000dd'
    const op = await signed('deployed', 'itself')
    expect(
      await chain().engine.validate(chain().entryPoint, { ...op, sender: nobody }),
    ).toMatchObject({
      failure: { code: 'AA20', message: 'AA20 account not deployed' },
    })
    await chain().deposit(nobody, parseEther('1'))
    await chain().engine.heads.refresh()
    const sponsored = { ...op, paymaster: nobody, paymasterVerificationGasLimit: 100_000n }
    expect(await chain().engine.validate(chain().entryPoint, sponsored)).toMatchObject({
      failure: { code: expect.stringMatching(/AA30|AA33|AA35/) },
    })
  })

  test('a state override is what the operation meets', async () => {
    const { op, seed } = await build('counterfactual', 'itself')
    await chain().fund(op.sender, 0n)
    await chain().engine.heads.refresh()
    const poor = await chain().sign(op, seed)
    expect(await chain().engine.validate(chain().entryPoint, poor)).toMatchObject({
      failure: { code: 'AA21' },
    })
    const rich = { [op.sender]: { balance: '0xde0b6b3a7640000' } } as const
    expect(await chain().engine.validate(chain().entryPoint, poor, rich)).toMatchObject({
      ok: true,
    })
  })

  test('the node engine gives the same verdicts', async () => {
    const nodeEngine = createNodeEngine({ node: chain().engine.node })
    const op = await signed('deployed', 'itself', chain().onTarget('write', 0n, 1n))
    const variants: Operation[] = [
      op,
      await chain().sign(op, 'somebody else'),
      { ...op, nonce: 9n },
      { ...op, sender: '0x00000000000000000000000000000000000000dd' },
      { ...op, paymaster: '0x00000000000000000000000000000000000000dd' },
      { ...op, maxFeePerGas: 2n ** 121n },
      { ...op, verificationGasLimit: 30_000n },
      { ...op, factory: op.sender },
    ]
    for (const variant of variants) {
      const ours = await chain().engine.validate(chain().entryPoint, variant)
      const theirs = await nodeEngine.validate(chain().entryPoint, variant)
      if (!ours.ok || !theirs.ok) {
        const said = theirs.ok ? undefined : theirs.failure
        expect(ours).toMatchObject({
          ok: false,
          failure: { code: said?.code, message: said?.message },
        })
        continue
      }
      const { verificationGasUsed, observed, before: _, ...rest } = ours.validation
      const {
        verificationGasUsed: simulated,
        observed: resultOnly,
        before: __,
        ...same
      } = theirs.validation
      expect(rest).toEqual(same)
      expect(resultOnly).toMatchObject({ kind: 'resultOnly', contextSize: 0 })
      expect(resultOnly.stakes.account).toEqual(observed.stakes.account)
      // With a wrong signature the EntryPoint does not say it, and what it used around is taken off.
      const less = Number(verificationGasUsed - simulated)
      if (rest.accountSignatureFailed) {
        expect(less).toBeGreaterThanOrEqual(0)
        expect(less).toBeLessThan(12_000)
      } else expect(Math.abs(less)).toBeLessThan(400)
    }
  })
})
