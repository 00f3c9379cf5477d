import { type Address, type Hex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { askTank } from '../support/tanks/tankCalls.js'
import { openGround } from '../support/world/ground.js'
import { SIGNER_B, TARGET, VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

/** A value of `op.callData` that the account accepts too. */
const OTHER_TARGET: Address = '0x0000000000000000000000000000000000000b0b'

describe.each(VERSIONS)('a tank on EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)
  let tank: Address

  beforeAll(async () => {
    tank = await chain().createTank(0)
  })

  afterAll(() => chain().anvil.stop())

  const now = async (): Promise<number> => Number((await chain().wallet.getBlock()).timestamp)

  test('pays for an operation, even the one that creates its account, to the wei', async () => {
    for (const isFirst of [true, false]) {
      const draft = await chain().accountDraft('payer')
      expect(draft.factory !== undefined).toBe(isFirst)
      const before = await chain().depositOf(tank)
      const op = await chain().sign(await chain().sponsor(draft, tank), 'payer')
      const [outcome] = await chain().handleOps([op])
      expect(outcome).toMatchObject({ success: true, paymaster: tank, sender: op.sender })
      expect(outcome!.actualGasCost).toBeGreaterThan(0n)
      expect(before - (await chain().depositOf(tank))).toBe(outcome!.actualGasCost)
      expect(await chain().wallet.getBalance({ address: op.sender })).toBe(0n)
      expect(await chain().depositOf(op.sender)).toBe(0n)
    }
  })

  test('pays for several operations of a bundle, also for one that reverts', async () => {
    const seeds = ['one', 'two', 'three']
    const before = await chain().depositOf(tank)
    const ops = await Promise.all(
      seeds.map(async (seed, index) => {
        const call = { to: OTHER_TARGET, value: index === 1 ? 1n : 0n }
        return chain().sign(
          await chain().sponsor(await chain().accountDraft(seed, call), tank),
          seed,
        )
      }),
    )
    const outcomes = await chain().handleOps(ops)
    expect(outcomes.map(({ success }) => success)).toEqual([true, false, true])
    const spent = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
    expect(before - (await chain().depositOf(tank))).toBe(spent)
  })

  test('accepts the second signer', async () => {
    const op = await chain().sponsor(await chain().accountDraft('second'), tank, {
      signerKey: SIGNER_B,
    })
    const [outcome] = await chain().handleOps([await chain().sign(op, 'second')])
    expect(outcome).toMatchObject({ success: true, paymaster: tank })
  })

  test('refuses a signer it does not know', async () => {
    const signerKey = keyFromSeed('nobody')
    const op = await chain().sponsor(await chain().accountDraft('wrong'), tank, { signerKey })
    expect(await chain().failureOf([await chain().sign(op, 'wrong')])).toMatch(/^AA34/)
  })

  test('refuses an expired and a premature sponsorship, and accepts one in its time', async () => {
    const draft = await chain().accountDraft('timely')
    const time = await now()
    const attempt = async (validUntil: number, validAfter: number) => {
      const op = await chain().sponsor(draft, tank, { validUntil, validAfter })
      return chain().failureOf([await chain().sign(op, 'timely')])
    }
    expect(await attempt(time - 1, 0)).toMatch(/^AA32/)
    expect(await attempt(0, time + 1000)).toMatch(/^AA32/)
    expect(await attempt(time + 1000, time - 1)).toBeUndefined()
    expect(await attempt(0, 0)).toBeUndefined()
  })

  test('refuses an operation changed after it was sponsored', async () => {
    const draft = await chain().accountDraft('changed')
    const sponsored = await chain().sponsor(draft, tank)
    const { callData } = await chain().accountDraft('changed', { to: OTHER_TARGET, value: 1n })
    const changes = [{ callData }, { callGasLimit: 100_001n }, { nonce: 1n << 64n }]
    for (const change of changes) {
      const op = await chain().sign({ ...sponsored, ...change }, 'changed')
      expect(await chain().failureOf([op]), Object.keys(change)[0]).toMatch(/^AA34/)
    }
    expect(await chain().failureOf([await chain().sign(sponsored, 'changed')])).toBeUndefined()
  })

  test('refuses what was sponsored on another chain', async () => {
    const elsewhere = await openGround({ chainId: 4242 })
    const other = elsewhere.at(version)
    try {
      expect(await other.createTank(0)).toBe(tank)
      const draft = await chain().accountDraft('traveller')
      expect(await other.accountDraft('traveller')).toEqual(draft)
      const op = await other.sign(await chain().sponsor(draft, tank), 'traveller')
      expect(await other.failureOf([op])).toMatch(/^AA34/)
    } finally {
      await elsewhere.stop()
    }
  })

  test('answers its own EntryPoint only', async () => {
    const stranger = chain().entryPoints[version === '0.6' ? '0.7' : '0.6']!
    const op = await chain().sponsor(await chain().accountDraft('elsewhere'), tank)
    expect(await askTank(chain(), op)).toMatchObject({ authorizer: 0n, context: '0x' })
    expect(await askTank(chain(), op, stranger)).toBe('Tank: only the EntryPoint')
    expect(await askTank(chain(), op, TARGET)).toBe('Tank: only the EntryPoint')
  })

  test('refuses what was sponsored for another EntryPoint or another tank', async () => {
    const draft = await chain().accountDraft('elsewhere')
    const entryPoint = chain().entryPoints[version === '0.6' ? '0.7' : '0.6']!
    const twin = await chain().createTank(3)
    for (const terms of [{ entryPoint }, { tank: twin }]) {
      const op = await chain().sponsor(draft, tank, terms)
      const failure = await chain().failureOf([await chain().sign(op, 'elsewhere')])
      expect(failure, Object.keys(terms)[0]).toMatch(/^AA34/)
    }
  })

  test('refuses when it is empty', async () => {
    const empty = await chain().createTank(1, { wei: 0n })
    const op = await chain().sponsor(await chain().accountDraft('poor'), empty)
    expect(await chain().failureOf([await chain().sign(op, 'poor')])).toMatch(/^AA31/)
  })

  test('an empty signer slot is nobody', async () => {
    const single = await chain().createTank(2, { signerB: zeroAddress })
    const op = await chain().sponsor(await chain().accountDraft('zero'), single)
    const unrecoverable = (op.paymasterData.slice(0, 26) + '00'.repeat(65)) as Hex
    const forged = await chain().sign({ ...op, paymasterData: unrecoverable }, 'zero')
    expect(await chain().failureOf([forged])).toMatch(/^AA34/)
    expect(await chain().failureOf([await chain().sign(op, 'zero')])).toBeUndefined()
  })
})
