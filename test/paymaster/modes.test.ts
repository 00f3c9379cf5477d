import { pino } from 'pino'
import { type Hex, parseEther, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { devKey } from '../../src/devnet/devKeys.js'
import type { Draft } from '../../src/entrypoint/draft.js'
import type { Operation } from '../../src/entrypoint/operation.js'
import { TankError } from '../../src/errors/tankErrors.js'
import type { SponsorshipResult } from '../../src/paymaster/sponsorship.js'
import type { Tank } from '../../src/paymaster/tanks.js'
import { checkFunds } from '../../src/paymaster/watchFunds.js'
import { type BundlingChain, startBundlingChain } from '../support/chain/bundlingChain.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { type SponsorWorld, sponsorWorld } from '../support/service/sponsorWorld.js'

const postgres = useDatabase()
function database() {
  return postgres().database
}
/** No executor's, whose nonces are its own. */
const operatorKey = devKey(4)

let chain: BundlingChain
let world: SponsorWorld
let shared: Tank
let appId = ''

beforeAll(async () => {
  chain = await startBundlingChain(database())
  const { heads, entryPoint, definition } = chain
  const { node } = chain.context
  const parts = { database: database(), node, heads, entryPoint, definition }
  world = sponsorWorld({ ...parts, ownerKey: operatorKey })
  shared = await world.makeTank(null, parseEther('1'))
})
afterAll(async () => {
  world?.close()
  await chain?.stop()
})
beforeEach(async () => {
  appId = await createApp(database())
})

async function newDraft(fields: Partial<Draft> = {}): Promise<Draft> {
  return {
    ...chain.operation(await chain.createAccount(0n)),
    ...unsetGas,
    ...fields,
  }
}

function ask(draft: Draft, app = appId): Promise<SponsorshipResult> {
  return world.sponsor.sponsor(world.request(app, draft))
}

function admit(op: Operation, app = appId): Promise<Hex> {
  return chain.mempool.admit(chain.entryPoint, op, { appId: app, simulateExecution: false })
}

async function credited(mode: 'shared' | 'native', wei: bigint, app = appId) {
  await world.funds.setMode(app, mode)
  await world.funds.credit(app, wei, 'invoice 1')
}

async function reserved(app = appId) {
  return (await world.funds.show(app)).credit
}

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
    await chain.settle()
    const { actualGasUsed, actualGasCost, receipt, paymaster } = await chain.receipt(hash)
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
    await chain.carry([operation])
    await chain.settle()
    expect((await chain.receipt(hash)).success).toBe(true)
    expect((await reserved()).balance).toBe(parseEther('1'))
  })

  test('admits nothing but what was sponsored, and only for the app', async () => {
    await credited('native', parseEther('1'))
    const { operation } = await ask(await newDraft())
    const changed = { ...operation, callGasLimit: operation.callGasLimit + 1n }
    await expect(admit(changed)).rejects.toThrow(/maxFeePerGas|maxPriorityFeePerGas/)
    const stranger = await createApp(database())
    await expect(admit(operation, stranger)).rejects.toThrow(/maxFeePerGas|maxPriorityFeePerGas/)
    await chain.settle()
  })

  test('tells its clients to offer nothing, unless they know better', async () => {
    const draft = await newDraft()
    const { standard } = await world.appFees.fees(appId)
    expect(standard.maxFeePerGas).toBeGreaterThan(0n)
    const paying = await world.appFees.estimate(
      chain.entryPoint,
      { ...draft, ...standard },
      undefined,
      appId,
    )
    expect(paying.maxFeePerGas).toBe(standard.maxFeePerGas)
    await world.funds.setMode(appId, 'native')
    const nothing = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    expect(await world.appFees.fees(appId)).toEqual({
      slow: nothing,
      standard: nothing,
      fast: nothing,
    })
    expect(await world.appFees.estimate(chain.entryPoint, draft, undefined, appId)).toMatchObject(
      nothing,
    )
  })

  test('needs no paymaster in a stub', async () => {
    await credited('native', parseEther('1'))
    const stub = await world.sponsor.stub({
      appId,
      entryPoint: chain.entryPoint,
      draft: await newDraft(),
      calculateGasLimits: true,
      expiryDuration: undefined,
      webhookData: undefined,
      signingPhase: undefined,
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
    const before = (await world.tanks.show(null, chain.entryPoint))?.deposit ?? 0n
    const hash = await admit(operation)
    await chain.settle()
    const { actualGasCost, success } = await chain.receipt(hash)
    expect(success).toBe(true)
    expect((await world.tanks.show(null, chain.entryPoint))?.deposit).toBe(before - actualGasCost)
    expect((await reserved()).balance).toBe(parseEther('0.5') - actualGasCost)
  })

  test('spends no more than the credit, however much the tank holds and however many ask', async () => {
    await credited('shared', parseEther('0.5'))
    const fees = (await world.appFees.fees(appId)).standard
    const { operation } = await ask(await newDraft(fees))
    const cost = chain.entryPoint.requiredPrefund(operation)
    const poor = await createApp(database())
    await credited('shared', cost * 3n + cost / 2n, poor)
    const drafts: Draft[] = []
    while (drafts.length < 8) drafts.push(await newDraft(fees))
    const results = await Promise.all(drafts.map((draft) => ask(draft, poor)))
    const codes = results.map(({ decision }) => decision.code).sort()
    expect(codes).toEqual([...Array(5).fill('CREDIT_EMPTY'), ...Array(3).fill('SPONSORED')])
    const refused = results.find(({ decision }) => !decision.sponsored)
    expect(refused?.decision.message).toContain(String(cost * 3n + cost / 2n))
    expect((await reserved(poor)).locked).toBe(cost * 3n)
  })

  test('an app without credit is refused, whatever others have', async () => {
    await world.funds.setMode(appId, 'shared')
    expect((await ask(await newDraft())).decision.code).toBe('CREDIT_EMPTY')
  })

  test('what all apps reserve together stays within the deposit', async () => {
    const fees = (await world.appFees.fees(appId)).standard
    await credited('shared', parseEther('1000'))
    const before = await world.tanks.show(null, chain.entryPoint)
    await world.tanks.withdraw(
      shared,
      world.owner,
      (before?.deposit ?? 0n) - 1_000n,
      0n,
      operatorKey,
    )
    expect((await ask(await newDraft(fees))).decision.code).toBe('TANK_EMPTY')
    await world.tanks.deposit(shared, parseEther('1'), operatorKey)
    expect((await ask(await newDraft(fees))).decision.code).toBe('SPONSORED')
  })
})

describe('credit', () => {
  test('counts a reference once, and refuses to mean something else by it', async () => {
    await world.funds.credit(appId, 1_000n, 'invoice 7')
    expect((await world.funds.credit(appId, 1_000n, 'invoice 7')).credit.balance).toBe(1_000n)
    await expect(world.funds.credit(appId, 2_000n, 'invoice 7')).rejects.toThrow(TankError)
    expect((await world.funds.credit(appId, 2_000n, 'invoice 8')).credit.balance).toBe(3_000n)
  })

  test('is taken back as far as it is neither spent nor reserved', async () => {
    await credited('shared', parseEther('0.5'))
    await ask(await newDraft())
    const { locked, available } = await reserved()
    await expect(world.funds.credit(appId, -(available + 1n), 'refund')).rejects.toThrow(
      /less than/,
    )
    await world.funds.credit(appId, -available, 'refund')
    expect(await reserved()).toMatchObject({ balance: locked, locked, available: 0n })
    expect((await ask(await newDraft())).decision.code).toBe('CREDIT_EMPTY')
  })

  test('an app that nothing was said about pays from its own tank', async () => {
    expect((await world.funds.show(appId)).mode).toBe('tank')
    expect((await ask(await newDraft())).decision.code).toBe('NO_TANK')
    const tank = await world.makeTank(appId, parseEther('1'))
    const { operation } = await ask(await newDraft())
    expect(operation.paymaster).toBe(tank.address)
  })
})

describe('the alarm', () => {
  const alarms: unknown[] = []
  const logger = pino({ level: 'info' }, { write: (line) => alarms.push(JSON.parse(line)) })
  const check = async () => {
    const { node } = chain.context
    const { chainId } = chain.definition
    await checkFunds({ database: database(), node, chainId, logger })
    return alarms.splice(0).filter((line) => (line as { appId: string }).appId === appId)
  }

  test('of a credit goes off once below its amount, and off when it is filled', async () => {
    await credited('native', parseEther('1'))
    await world.funds.setAlarm(appId, { wei: parseEther('1.5') })
    expect(await check()).toMatchObject([{ msg: 'a gas tank runs low', mode: 'native' }])
    expect(await check()).toEqual([])
    expect((await world.funds.show(appId)).isLow).toBe(true)
    await world.funds.credit(appId, parseEther('1'), 'invoice 2')
    expect(await check()).toMatchObject([{ msg: 'a gas tank is filled again' }])
    expect((await world.funds.show(appId)).isLow).toBe(false)
  })

  test('of an own tank goes off by days of runway, and is told to whom subscribed', async () => {
    const tank = await world.makeTank(appId, parseEther('1'))
    await database()
      .insertInto('event_subscriptions')
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
    await chain.settle()
    const { runway } = (await world.tanks.show(appId, chain.entryPoint))!
    expect(runway.days).toBeGreaterThan(3)
    await world.funds.setAlarm(appId, { days: Math.ceil(runway.days ?? 0) + 1 })
    expect(await check()).toMatchObject([{ msg: 'a gas tank runs low', tank: tank.address }])
    expect((await world.tanks.show(appId, chain.entryPoint))?.isLow).toBe(true)
    const events = await database()
      .selectFrom('events')
      .select(['type', 'data'])
      .where('app_id', '=', appId)
      .execute()
    expect(events).toMatchObject([{ type: 'tank.low', data: { tank: tank.address } }])
  })
})
