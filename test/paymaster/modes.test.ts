import { pino } from 'pino'
import { type Hex, parseEther, zeroAddress } from 'viem'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TankError } from '../../src/base/errors/sponsorshipErrors.js'
import type { Draft } from '../../src/erc4337/draft.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { sharedGas } from '../../src/gas/preVerificationGas.js'
import type { SponsorshipResult } from '../../src/paymaster/sponsorship.js'
import type { Tank } from '../../src/paymaster/tanks.js'
import { checkFunds } from '../../src/paymaster/watchFunds.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import { createApp } from '../support/database/createApp.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { tankOwnerKey } from '../support/world/sponsoring.js'
import { useWorld } from '../support/world.js'

const chain = useWorld()
let shared: Tank
let appId = ''

beforeAll(async () => {
  shared = await chain().makeTank(null, parseEther('1'))
})
beforeEach(async () => {
  appId = await createApp(chain().database)
})

async function newDraft(fields: Partial<Draft> = {}): Promise<Draft> {
  return {
    ...chain().operation(await chain().createAccount(0n)),
    ...unsetGas,
    ...fields,
  }
}

function ask(draft: Draft, app = appId): Promise<SponsorshipResult> {
  return chain().sponsor(chain().request(app, draft))
}

function admit(op: Operation, app = appId): Promise<Hex> {
  const options = { appId: app, requester: undefined, simulateExecution: false }
  return chain().services.admit(chain().entryPoint, op, options)
}

async function credited(mode: 'shared' | 'native', wei: bigint, app = appId) {
  await chain().funds.setMode(app, mode)
  await chain().funds.credit(app, wei, 'invoice 1')
}

async function reserved(app = appId) {
  return (await chain().funds.show(app)).credit
}

test.each(['native', 'shared'] as const)(
  'mode %s: what one app sponsors for a sender and nobody sends keeps no other app from it',
  async (mode) => {
    const other = await createApp(chain().database)
    for (const app of [appId, other]) await credited(mode, parseEther('0.5'), app)
    const draft = await newDraft()
    const code = async (key: bigint, app: string) =>
      (await ask({ ...draft, nonce: key << 64n }, app)).decision.code
    for (let key = 1n; key <= 16n; key++) expect(await code(key, other)).toBe('SPONSORED')
    expect(await code(17n, other)).toBe('TOO_MUCH_UNSENT')
    expect(await code(18n, appId)).toBe('SPONSORED')
  },
)

describe('mode native', () => {
  test('has an operation without paymaster and fees included, and its credit pays the gas', async () => {
    await credited('native', parseEther('1'))
    const draft = await newDraft({ maxFeePerGas: 5n, maxPriorityFeePerGas: 5n })
    const { decision, operation, paymasterAndData } = await ask(draft)
    expect(decision).toMatchObject({ sponsored: true, code: 'SPONSORED' })
    expect(paymasterAndData).toBe('0x')
    expect(operation).toMatchObject({
      paymaster: undefined,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
    })
    const { locked, available } = await reserved()
    expect(locked).toBeGreaterThan(0n)
    expect(available).toBe(parseEther('1') - locked)

    const hash = await admit(operation)
    await chain().settle()
    const { actualGasUsed, actualGasCost, receipt, paymaster } = await chain().receipt(hash)
    expect({ actualGasCost, paymaster }).toEqual({ actualGasCost: 0n, paymaster: zeroAddress })
    const cost = actualGasUsed * receipt.effectiveGasPrice
    expect(cost).toBeGreaterThanOrEqual(receipt.gasUsed * receipt.effectiveGasPrice)
    expect(cost).toBeLessThanOrEqual(locked)
    const after = await reserved()
    expect(after.balance).toBe(parseEther('1') - cost)
    expect(after.runway.daily).toBe(cost)
  })

  test('costs nothing when someone else carries the operation', async () => {
    await credited('native', parseEther('1'))
    const { operation } = await ask(await newDraft())
    const hash = await admit(operation)
    await chain().carry([operation])
    await chain().settle()
    expect((await chain().receipt(hash)).success).toBe(true)
    expect((await reserved()).balance).toBe(parseEther('1'))
  })

  test('admits nothing but what was sponsored, and only for the app', async () => {
    await credited('native', parseEther('1'))
    const { operation } = await ask(await newDraft())
    const changed = { ...operation, callGasLimit: operation.callGasLimit + 1n }
    await expect(admit(changed)).rejects.toThrow(/maxFeePerGas|maxPriorityFeePerGas/)
    const stranger = await createApp(chain().database)
    await expect(admit(operation, stranger)).rejects.toThrow(/maxFeePerGas|maxPriorityFeePerGas/)
    await chain().settle()
  })

  test('admits what another app was asked to pay for as well', async () => {
    const other = await createApp(chain().database)
    for (const app of [appId, other]) await credited('native', parseEther('1'), app)
    const draft = await newDraft()
    const { operation } = await ask(draft)
    expect((await ask(draft, other)).operation).toEqual(operation)
    const hash = await admit(operation)
    await chain().settle()
    const { actualGasUsed, receipt } = await chain().receipt(hash)
    const cost = actualGasUsed * receipt.effectiveGasPrice
    expect((await reserved()).balance).toBe(parseEther('1') - cost)
    expect((await reserved(other)).balance).toBe(parseEther('1'))
  })

  test('tells its clients to offer nothing, unless they know better', async () => {
    const draft = await newDraft()
    const { standard } = await chain().services.fees(appId)
    expect(standard.maxFeePerGas).toBeGreaterThan(0n)
    const paying = await chain().services.estimate(
      chain().entryPoint,
      { ...draft, ...standard },
      { appId, requester: undefined },
    )
    expect(paying.maxFeePerGas).toBe(standard.maxFeePerGas)
    await chain().funds.setMode(appId, 'native')
    const nothing = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    expect(await chain().services.fees(appId)).toEqual({
      slow: nothing,
      standard: nothing,
      fast: nothing,
    })
    expect(
      await chain().services.estimate(chain().entryPoint, draft, { appId, requester: undefined }),
    ).toMatchObject(nothing)
  })

  test('needs no paymaster in a stub', async () => {
    await credited('native', parseEther('1'))
    const stub = await chain().services.stub({
      appId,
      entryPoint: chain().entryPoint,
      draft: await newDraft(),
      calculateGasLimits: true,
      expiryDuration: undefined,
      policyIds: undefined,
      webhookData: undefined,
      signingPhase: undefined,
      requester: undefined,
    })
    expect(stub).toBeUndefined()
  })
})

describe('mode shared', () => {
  test("pays from the operator's tank, and the app's credit falls by what the chain charged", async () => {
    await credited('shared', parseEther('0.5'))
    const { decision, operation } = await ask(await newDraft())
    expect(decision).toMatchObject({ sponsored: true })
    expect(operation.paymaster).toBe(shared.address)
    const before = (await chain().tanks.show(null, chain().entryPoint))?.deposit ?? 0n
    const hash = await admit(operation)
    await chain().settle()
    const { actualGasCost, success } = await chain().receipt(hash)
    expect(success).toBe(true)
    expect((await chain().tanks.show(null, chain().entryPoint))?.deposit).toBe(
      before - actualGasCost,
    )
    expect((await reserved()).balance).toBe(parseEther('0.5') - actualGasCost)
  })

  test('pays its share of the bundle that it was in, and the ledger adds up to what the chain charged', async () => {
    await credited('shared', parseEther('0.5'))
    const other = await createApp(chain().database)
    await credited('native', parseEther('0.5'), other)
    const before = (await chain().tanks.show(null, chain().entryPoint))?.deposit ?? 0n
    const drafts: Draft[] = []
    while (drafts.length < 6) drafts.push(await newDraft())
    const { fast } = await chain().services.fees(appId)
    const hashes: Hex[] = []
    for (const [at, draft] of drafts.entries()) {
      const isShared = at < 3
      const app = isShared ? appId : other
      const { operation } = await ask({ ...draft, ...(isShared && fast) }, app)
      hashes.push(await admit(operation, app))
    }
    await chain().settle()
    const receipts = await Promise.all(hashes.map((hash) => chain().receipt(hash)))
    const rows = await chain()
      .database.selectFrom('reservations')
      .select(['user_op_hash', 'actual_cost', 'rebate'])
      .where('user_op_hash', 'in', hashes)
      .execute()
    const booked = hashes.map((hash) => rows.find((row) => row.user_op_hash === hash)!)

    // To the wei: the tank's deposit falls by cost and rebate, the credits by the cost.
    const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n)
    const costs = booked.map((row) => row.actual_cost)
    const charges = booked.map((row) => row.actual_cost + row.rebate)
    expect(charges.slice(0, 3)).toEqual(receipts.slice(0, 3).map((each) => each.actualGasCost))
    const deposit = (await chain().tanks.show(null, chain().entryPoint))?.deposit ?? 0n
    expect(before - deposit).toBe(sumOf(charges.slice(0, 3)))
    expect((await reserved()).balance).toBe(parseEther('0.5') - sumOf(costs.slice(0, 3)))
    expect((await reserved(other)).balance).toBe(parseEther('0.5') - sumOf(costs.slice(3)))

    const shared = BigInt(sharedGas(chain().entryPoint, { hasBeneficiary: false }))
    const { transactionHash, gasUsed, effectiveGasPrice } = receipts[0]!.receipt
    expect(receipts.map(({ receipt }) => receipt.transactionHash)).toEqual(
      Array(6).fill(transactionHash),
    )
    // Each paid for the fixed costs of a whole bundle: five sixths of them come back.
    const prices = receipts.map(({ actualGasCost, actualGasUsed }) =>
      actualGasCost === 0n ? effectiveGasPrice : actualGasCost / actualGasUsed,
    )
    const rebates = booked.map((row) => row.rebate)
    expect(rebates).toEqual(prices.map((price) => (shared * 5n * price) / 6n))
    // What is left pays for the bundle. Above it is the price of guarantees, which a lone operation pays too: less
    // than 5 % of its charge. Before, the bundle was charged more than a fifth above its gas.
    const gas = sumOf(receipts.map(({ actualGasUsed }) => actualGasUsed))
    expect(sumOf(costs)).toBeGreaterThanOrEqual(gasUsed * effectiveGasPrice)
    expect(Number(gas) / Number(gasUsed)).toBeGreaterThan(1.2)
    const above = Number(gas - 5n * shared - gasUsed)
    expect(above).toBeGreaterThanOrEqual(0)
    expect(above / Number(gas)).toBeLessThan(0.05)

    // A reorg takes costs and rebates back, and what is included again is booked again.
    const balances = async () => [(await reserved()).balance, (await reserved(other)).balance]
    const first = receipts.map(({ receipt }) => receipt.blockNumber).sort()[0]!
    const { number } = await chain().chain.heads.refresh()
    await chain().anvil.request('anvil_reorg', [Number(number - first) + 1, []])
    await chain().round()
    expect(await balances()).toEqual([parseEther('0.5'), parseEther('0.5')])
    await chain().settle()
    const again = await chain()
      .database.selectFrom('reservations')
      .select(['app_id', 'state', 'actual_cost', 'rebate'])
      .where('user_op_hash', 'in', hashes)
      .execute()
    expect(again.filter(({ state, rebate }) => state === 'included' && rebate > 0n)).toHaveLength(6)
    const costOf = (app: string) =>
      sumOf(again.flatMap((row) => (row.app_id === app ? row.actual_cost : [])))
    expect(await balances()).toEqual([
      parseEther('0.5') - costOf(appId),
      parseEther('0.5') - costOf(other),
    ])
    const left = (await chain().tanks.show(null, chain().entryPoint))?.deposit ?? 0n
    const ofTank = again.filter((row) => row.app_id === appId)
    expect(before - left).toBe(sumOf(ofTank.map((row) => row.actual_cost + row.rebate)))
  })

  test('spends no more than the credit, however much the tank holds and however many ask', async () => {
    await credited('shared', parseEther('0.5'))
    const fees = (await chain().services.fees(appId)).standard
    const { operation } = await ask(await newDraft(fees))
    const cost = chain().entryPoint.requiredPrefund(operation)
    const poor = await createApp(chain().database)
    await credited('shared', cost * 3n + cost / 2n, poor)
    const drafts: Draft[] = []
    while (drafts.length < 8) drafts.push(await newDraft(fees))
    const results = await Promise.all(drafts.map((draft) => ask(draft, poor)))
    const codes = results.map(({ decision }) => decision.code).sort()
    expect(codes).toEqual([...Array(5).fill('CREDIT_EMPTY'), ...Array(3).fill('SPONSORED')])
    const refused = results.find(({ decision }) => !decision.sponsored)
    expect(refused?.decision.message).toContain(String(cost * 3n + cost / 2n))
    // Not three times the first one's: a time with a zero byte makes an operation cheaper by 12 gas.
    const granted = results.filter(({ decision }) => decision.sponsored)
    const costs = granted.map((each) => chain().entryPoint.requiredPrefund(each.operation))
    expect((await reserved(poor)).locked).toBe(costs.reduce((sum, each) => sum + each, 0n))
  })

  test('an app without credit is refused, whatever others have', async () => {
    await chain().funds.setMode(appId, 'shared')
    expect((await ask(await newDraft())).decision.code).toBe('CREDIT_EMPTY')
  })

  test('what all apps reserve together stays within the deposit', async () => {
    const fees = (await chain().services.fees(appId)).standard
    await credited('shared', parseEther('1000'))
    const before = await chain().tanks.show(null, chain().entryPoint)
    await chain().tanks.withdraw(
      shared,
      chain().owner,
      (before?.deposit ?? 0n) - 1_000n,
      0n,
      localSigner(tankOwnerKey),
    )
    expect((await ask(await newDraft(fees))).decision.code).toBe('TANK_EMPTY')
    await chain().tanks.deposit(shared, parseEther('1'), localSigner(tankOwnerKey))
    expect((await ask(await newDraft(fees))).decision.code).toBe('SPONSORED')
  })
})

describe('credit', () => {
  test('counts a reference once, and refuses to mean something else by it', async () => {
    await chain().funds.credit(appId, 1_000n, 'invoice 7')
    expect((await chain().funds.credit(appId, 1_000n, 'invoice 7')).credit.balance).toBe(1_000n)
    await expect(chain().funds.credit(appId, 2_000n, 'invoice 7')).rejects.toThrow(TankError)
    expect((await chain().funds.credit(appId, 2_000n, 'invoice 8')).credit.balance).toBe(3_000n)
  })

  test('is taken back as far as it is neither spent nor reserved', async () => {
    await credited('shared', parseEther('0.5'))
    await ask(await newDraft())
    const { locked, available } = await reserved()
    await expect(chain().funds.credit(appId, -(available + 1n), 'refund')).rejects.toThrow(
      /less than/,
    )
    await chain().funds.credit(appId, -available, 'refund')
    expect(await reserved()).toMatchObject({ balance: locked, locked, available: 0n })
    expect((await ask(await newDraft())).decision.code).toBe('CREDIT_EMPTY')
  })

  test('an app that nothing was said about pays from its own tank', async () => {
    expect((await chain().funds.show(appId)).mode).toBe('tank')
    expect((await ask(await newDraft())).decision.code).toBe('NO_TANK')
    const tank = await chain().makeTank(appId, parseEther('1'))
    const { operation } = await ask(await newDraft())
    expect(operation.paymaster).toBe(tank.address)
  })
})

describe('the alert', () => {
  const alerts: unknown[] = []
  const logger = pino({ level: 'info' }, { write: (line) => alerts.push(JSON.parse(line)) })
  const check = async () => {
    const { node } = chain().context
    const { chainId } = chain().definition
    await checkFunds({ database: chain().database, node, chainId, logger })
    return alerts.splice(0).filter((line) => (line as { appId: string }).appId === appId)
  }

  test('of a credit goes off once below its amount, and off when it is filled', async () => {
    await credited('native', parseEther('1'))
    await chain().funds.setAlert(appId, { wei: parseEther('1.5') })
    expect(await check()).toMatchObject([{ msg: 'a gas tank runs low', mode: 'native' }])
    expect(await check()).toEqual([])
    expect((await chain().funds.show(appId)).isLow).toBe(true)
    await chain().funds.credit(appId, parseEther('1'), 'invoice 2')
    expect(await check()).toMatchObject([{ msg: 'a gas tank was refilled' }])
    expect((await chain().funds.show(appId)).isLow).toBe(false)
  })

  test('of a credit counts what the credit paid for, not what another payer did', async () => {
    await chain().makeTank(appId, parseEther('1'))
    await admit((await ask(await newDraft())).operation)
    await chain().settle()
    await credited('shared', parseEther('0.5'))
    expect((await reserved()).runway).toEqual({ daily: 0n, days: undefined })
    await admit((await ask(await newDraft())).operation)
    await chain().settle()
    expect((await reserved()).runway.days).toBeGreaterThan(0)
  })

  test('ends with the watch: when the app pays otherwise, and when it ends', async () => {
    const tank = await chain().makeTank(appId, 0n)
    const isOn = async () => (await chain().tanks.show(appId, chain().entryPoint))?.isLow
    const setMode = (mode: 'tank' | 'native') => chain().funds.setMode(appId, mode)
    await chain().funds.setAlert(appId, { wei: 1n })
    await check()
    expect(await isOn()).toBe(true)
    await setMode('native')
    await check()
    expect(await isOn()).toBe(false)
    await setMode('tank')
    expect(await check()).toMatchObject([{ msg: 'a gas tank runs low', tank: tank.address }])
    const ended = { revoked_at: new Date() }
    await chain().database.updateTable('apps').set(ended).where('id', '=', appId).execute()
    expect(await check()).toEqual([])
    expect(await isOn()).toBe(false)
  })

  test('of an own tank goes off by days of runway and reaches subscribers', async () => {
    const tank = await chain().makeTank(appId, parseEther('1'))
    await chain()
      .database.insertInto('event_subscriptions')
      .values({
        app_id: appId,
        url: 'https://example.com/',
        event_types: ['tank.low'],
        secret: Buffer.alloc(8),
      })
      .execute()
    expect(await check()).toEqual([])
    const { operation } = await ask(await newDraft())
    await admit(operation)
    await chain().settle()
    const { runway } = (await chain().tanks.show(appId, chain().entryPoint))!
    expect(runway.days).toBeGreaterThan(3)
    await chain().funds.setAlert(appId, { days: Math.ceil(runway.days ?? 0) + 1 })
    expect(await check()).toMatchObject([{ msg: 'a gas tank runs low', tank: tank.address }])
    expect((await chain().tanks.show(appId, chain().entryPoint))?.isLow).toBe(true)
    const events = await chain()
      .database.selectFrom('events')
      .select(['type', 'data'])
      .where('app_id', '=', appId)
      .execute()
    expect(events).toMatchObject([{ type: 'tank.low', data: { tank: tank.address } }])
  })
})
