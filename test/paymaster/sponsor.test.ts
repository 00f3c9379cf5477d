import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseEther,
  parseGwei,
  recoverAddress,
  sliceHex,
} from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ValidationRejectedError } from '../../src/base/errors/operationErrors.js'
import { InvalidParamsError } from '../../src/base/errors/requestErrors.js'
import { SponsorshipRefusedError } from '../../src/base/errors/sponsorshipErrors.js'
import { abi as tankAbi } from '../../src/chain/contracts/generated/Tank06.js'
import { ethCall } from '../../src/chain/ethCall.js'
import { adviseFees } from '../../src/chain/fees.js'
import { sendTransaction } from '../../src/chain/sendTransaction.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { fundAccount } from '../../src/cli/devnet/fundAccount.js'
import type { SimpleAccount } from '../../src/cli/devnet/simpleAccount.js'
import type { Draft } from '../../src/erc4337/draft.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { findDecision } from '../../src/paymaster/ledger/decisions.js'
import { settleLedger } from '../../src/paymaster/ledger/ledger.js'
import { listWebhookCalls } from '../../src/paymaster/ledger/webhookCalls.js'
import type { SponsorshipRequest, SponsorshipResult } from '../../src/paymaster/sponsorship.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import { createApp } from '../support/database/createApp.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { tankOwnerKey } from '../support/world/sponsoring.js'
import { useWorld } from '../support/world.js'

const world = useWorld({ versions: ['0.6'], definition: { pollInterval: 20 } })
function database() {
  return world().database
}

const bundlerKey = devKey(2)
const target: Address = '0x00000000000000000000000000000000000a11ce'

let appId = ''
let seeds = 0
beforeEach(async () => {
  appId = await createApp(database())
})

function makeTank(wei: bigint) {
  return world().makeTank(appId, wei)
}

async function depositOf() {
  return (await world().tanks.show(appId, world().entryPoint))?.deposit ?? 0n
}

/** The draft of a new account's first operation, with the standard fees. */
async function newDraft(
  fields: Partial<Draft> = {},
): Promise<{ account: SimpleAccount; draft: Draft }> {
  const account = await world().at('0.6').account(`sponsor ${seeds++}`)
  const { node, heads } = world().chain
  const { standard } = await adviseFees(node, await heads.refresh(), {})
  const draft = {
    ...(await account.draft({ to: target })),
    ...unsetGas,
    ...standard,
    ...fields,
  }
  return { account, draft }
}

function feesOf({ maxFeePerGas, maxPriorityFeePerGas }: Draft) {
  return {
    maxFeePerGas,
    maxPriorityFeePerGas,
  }
}

function ask(draft: Draft, choices: Partial<SponsorshipRequest> = {}): Promise<SponsorshipResult> {
  return world().sponsor(world().request(appId, draft, choices))
}

function signed(account: SimpleAccount, op: Operation) {
  return account.sign(op, world().entryPoint.hash(op, world().chainId))
}

/** Sends a bundle as any bundler would; its outcomes. */
async function include(...ops: Operation[]) {
  const {
    entryPoint,
    chain: { node },
  } = world()
  const data = entryPoint.encodeHandleOps(ops, target)
  const receipt = await sendTransaction(
    { node, definition: world().definition },
    localSigner(bundlerKey),
    { to: entryPoint.address, data },
  )
  const outcomes = entryPoint.decodeOutcomes(receipt.logs)
  await world().heads.refresh()
  return { receipt, outcomes }
}

/** The code by which the EntryPoint would refuse a bundle of `op` alone; undefined = it would not. */
async function refusalOf(op: Operation) {
  const {
    entryPoint,
    chain: { node },
  } = world()
  const data = entryPoint.encodeHandleOps([op], target)
  const outcome = await ethCall(node, { to: entryPoint.address, data })
  return outcome.ok ? undefined : entryPoint.decodeFailure(outcome.revertData)?.code
}

function validUntilOf({ operation }: SponsorshipResult) {
  return Number(sliceHex(operation.paymasterData, 0, 6))
}

describe('a sponsored operation', () => {
  test('is taken by the real EntryPoint, paid by the tank to the wei', async () => {
    const tank = await makeTank(parseEther('1'))
    const { account, draft } = await newDraft()
    const result = await ask(draft)
    expect(result.decision).toMatchObject({ sponsored: true, code: 'SPONSORED' })
    expect(result.paymasterAndData).toBe(tank.address + result.operation.paymasterData.slice(2))
    expect(result.paymasterAndData).toHaveLength(2 + 2 * 97)
    const op = await signed(account, result.operation)
    expect(await refusalOf(op)).toBeUndefined()
    const { outcomes } = await include(op)
    expect(outcomes).toMatchObject([{ success: true, paymaster: tank.address }])
    expect(await depositOf()).toBe(parseEther('1') - (outcomes[0]?.actualGasCost ?? 0n))
  })

  test('carries the signature over the hash that the tank computes', async () => {
    const tank = await makeTank(parseEther('1'))
    const { draft } = await newDraft()
    const { operation: op } = await ask(draft)
    const data = encodeFunctionData({
      abi: tankAbi,
      functionName: 'getHash',
      args: [
        {
          ...op,
          initCode: ((op.factory ?? '0x') + op.factoryData.slice(2)) as Hex,
          paymasterAndData: '0x',
        },
        Number(sliceHex(op.paymasterData, 0, 6)),
        Number(sliceHex(op.paymasterData, 6, 12)),
      ],
    })
    const outcome = await ethCall(world().chain.node, { to: tank.address, data })
    const recovered = await recoverAddress({
      hash: outcome.ok ? outcome.data : '0x',
      signature: sliceHex(op.paymasterData, 12),
    })
    expect(recovered.toLowerCase()).toBe(tank.signer)
  })

  test.each([
    'callGasLimit',
    'verificationGasLimit',
    'preVerificationGas',
    'maxFeePerGas',
    'maxPriorityFeePerGas',
  ] as const)('with another %s is refused by the tank (AA34)', async (field) => {
    await makeTank(parseEther('1'))
    const { account, draft } = await newDraft()
    const { operation } = await ask(draft)
    const changed = { ...operation, [field]: operation[field] + 1n }
    expect(await refusalOf(await signed(account, changed))).toBe('AA34')
  })

  test('may lack a signature and fees: they are supplied', async () => {
    await makeTank(parseEther('1'))
    const { account, draft } = await newDraft({
      signature: '0x',
      maxFeePerGas: undefined,
      maxPriorityFeePerGas: undefined,
    })
    const { operation } = await ask(draft)
    expect(operation.maxFeePerGas).toBeGreaterThan(0n)
    expect(await refusalOf(await signed(account, operation))).toBeUndefined()
  })

  test('loses an older paymaster of the client', async () => {
    const tank = await makeTank(parseEther('1'))
    const { draft } = await newDraft({ paymaster: target, paymasterData: '0x1234' })
    expect((await ask(draft)).operation.paymaster).toBe(tank.address)
  })

  test('leaves a decision with hash, cost and end', async () => {
    await makeTank(parseEther('1'))
    const { draft } = await newDraft()
    const result = await ask(draft)
    const { entryPoint } = world()
    expect(await findDecision(database(), result.decision.decisionId)).toMatchObject({
      app_id: appId,
      sponsored: true,
      sender: draft.sender,
      user_op_hash: entryPoint.hash(result.operation, world().chainId),
      max_cost: entryPoint.requiredPrefund(result.operation),
      valid_until: BigInt(validUntilOf(result)),
    })
  })
})

describe('gas limits', () => {
  test('given ones are echoed and signed when they are not to be calculated', async () => {
    await makeTank(parseEther('1'))
    const { account, draft } = await newDraft()
    const needed = (await ask(draft)).operation
    const given = {
      callGasLimit: needed.callGasLimit + 20_000n,
      verificationGasLimit: needed.verificationGasLimit + 40_000n,
      preVerificationGas: needed.preVerificationGas + 5_000n,
    }
    const { operation } = await ask({ ...draft, ...given }, { calculateGasLimits: false })
    expect(operation).toMatchObject(given)
    expect(await refusalOf(await signed(account, operation))).toBeUndefined()
    const calculated = (await ask({ ...draft, ...given })).operation
    expect(calculated.callGasLimit).toBeLessThan(given.callGasLimit)
  })

  test('given ones that were estimated without the tank are raised where it needs more', async () => {
    await makeTank(parseEther('1'))
    const { account, draft } = await newDraft()
    const selfPaid = await world().estimate(world().entryPoint, draft)
    const given = { ...draft, ...selfPaid }
    const { operation } = await ask(given, { calculateGasLimits: false })
    expect(operation.callGasLimit).toBe(selfPaid.callGasLimit)
    expect(operation.verificationGasLimit).toBeGreaterThanOrEqual(selfPaid.verificationGasLimit)
    expect(operation.preVerificationGas).toBeGreaterThan(selfPaid.preVerificationGas)
    const { outcomes } = await include(await signed(account, operation))
    expect(outcomes).toMatchObject([{ success: true }])
  })

  test('a missing or zero limit means all are calculated', async () => {
    await makeTank(parseEther('1'))
    const { draft } = await newDraft({ callGasLimit: 0n, verificationGasLimit: 3_000_000n })
    const { operation } = await ask(draft, { calculateGasLimits: false })
    expect(operation.callGasLimit).toBeGreaterThan(0n)
    expect(operation.verificationGasLimit).toBeLessThan(1_000_000n)
  })

  test.each([
    ['verificationGasLimit', { verificationGasLimit: 5_000_001n }],
    ['preVerificationGas', { preVerificationGas: 1_000_000n }],
    ['all limits', { callGasLimit: 16_000_000n }],
  ])('absurd %s is refused', async (_, absurd) => {
    await makeTank(parseEther('100'))
    const { draft } = await newDraft({
      callGasLimit: 60_000n,
      verificationGasLimit: 600_000n,
      preVerificationGas: 55_000n,
      ...absurd,
    })
    const { decision } = await ask(draft, { calculateGasLimits: false })
    expect(decision).toMatchObject({ sponsored: false, code: 'GAS_TOO_HIGH' })
  })

  test('a stub has the length of what is signed, and its calldata costs no less', async () => {
    const tank = await makeTank(parseEther('1'))
    const { draft } = await newDraft()
    const request = world().request(appId, draft)
    const stub = await world().services.stub(request)
    const { operation } = await ask(draft)
    expect(stub?.paymaster).toBe(tank.address)
    expect(stub?.paymasterData).toHaveLength(operation.paymasterData.length)
    expect(stub?.paymasterData.slice(26)).not.toMatch(/^(?:..)*00/)
    appId = await createApp(database())
    await expect(world().services.stub({ ...request, appId })).rejects.toThrow(
      SponsorshipRefusedError,
    )
  })
})

describe('time', () => {
  test('ends 300 s from now, or as many as were asked for', async () => {
    await makeTank(parseEther('1'))
    const { draft } = await newDraft()
    const before = Math.floor(Date.now() / 1000)
    expect(validUntilOf(await ask(draft))).toBeGreaterThanOrEqual(before + 300)
    const long = validUntilOf(await ask(draft, { expiryDuration: 900 }))
    expect(long).toBeGreaterThanOrEqual(before + 900)
    const longer = validUntilOf(await ask(draft, { expiryDuration: 6_000 }))
    expect(longer).toBeLessThan(long + 600)
  })

  test.each([0, 59, -1, 60.5, Number.NaN])(
    'a duration of %d s is an error and leaves nothing',
    async (expiryDuration) => {
      const { draft } = await newDraft()
      await expect(ask(draft, { expiryDuration })).rejects.toThrow(InvalidParamsError)
      const { count } = await database()
        .selectFrom('decisions')
        .select(({ fn }) => fn.countAll<bigint>().as('count'))
        .where('app_id', '=', appId)
        .executeTakeFirstOrThrow()
      expect(count).toBe(0n)
    },
  )

  test('on a chain whose time was moved ahead the sponsorship holds all the same', async () => {
    await makeTank(parseEther('1'))
    const { node, heads } = world().chain
    await node.request('evm_increaseTime', [7_200])
    await node.request('evm_mine', [])
    const head = await heads.refresh()
    expect(head.timestamp).toBeGreaterThan(Date.now() / 1000 + 3_600)
    const { account, draft } = await newDraft()
    const result = await ask(draft)
    expect(validUntilOf(result)).toBe(head.timestamp + 300)
    const { outcomes } = await include(await signed(account, result.operation))
    expect(outcomes).toMatchObject([{ success: true }])
  })
})

describe('refusals', () => {
  const expectSelfPaid = async (account: SimpleAccount, { operation }: SponsorshipResult) => {
    expect(operation.paymaster).toBeUndefined()
    expect(operation.paymasterData).toBe('0x')
    await fundAccount(world().anvil.url, operation.sender, parseEther('10'))
    const { outcomes } = await include(await signed(account, operation))
    expect(outcomes).toMatchObject([{ success: true, paymaster: `0x${'00'.repeat(20)}` }])
  }

  test('NO_TANK; the answer can be sent self-paid', async () => {
    const { account, draft } = await newDraft()
    const result = await ask(draft)
    expect(result.decision).toMatchObject({ sponsored: false, code: 'NO_TANK' })
    expect(result.decision.message).toContain(String(world().chainId))
    expect(result.paymasterAndData).toBe('0x')
    await expectSelfPaid(account, result)
    const stored = await findDecision(database(), result.decision.decisionId)
    expect(stored).toMatchObject({ sponsored: false, code: 'NO_TANK', max_cost: 0n })
  })

  test('TANK_NOT_DEPLOYED, also when it has money', async () => {
    const tank = await world().tanks.ensure(appId, world().entryPoint, world().owner)
    await world().tanks.deposit(tank, parseEther('1'), localSigner(tankOwnerKey))
    const { account, draft } = await newDraft()
    const result = await ask(draft)
    expect(result.decision.code).toBe('TANK_NOT_DEPLOYED')
    expect(result.decision.message).toContain(tank.address)
    await expectSelfPaid(account, result)
    await world().tanks.deploy(tank, world().entryPoint, localSigner(tankOwnerKey))
    expect((await ask((await newDraft()).draft)).decision.sponsored).toBe(true)
  })

  test('TANK_EMPTY, with the numbers', async () => {
    await makeTank(1_000n)
    const { account, draft } = await newDraft()
    const result = await ask(draft)
    expect(result.decision.code).toBe('TANK_EMPTY')
    expect(result.decision.message).toMatch(/may cost \d+ wei.* has 1000 wei, of which 0 wei/)
    await expectSelfPaid(account, result)
  })

  test('FEE_TOO_HIGH', async () => {
    await makeTank(parseEther('1'))
    const fee = parseGwei('100000')
    const { draft } = await newDraft({ maxFeePerGas: fee })
    const { decision, operation } = await ask(draft)
    expect(decision.code).toBe('FEE_TOO_HIGH')
    expect(decision.message).toContain(String(fee))
    expect(operation.maxFeePerGas).toBe(fee)
  })

  test('POLICY_UNKNOWN for a name that no text of the database can hold', async () => {
    await makeTank(parseEther('1'))
    const { decision } = await ask((await newDraft()).draft, { policyIds: ['no\0ne'] })
    expect(decision).toMatchObject({ sponsored: false, code: 'POLICY_UNKNOWN' })
    const stored = await findDecision(database(), decision.decisionId)
    expect(stored?.message).toContain('"none"')
  })

  test('an operation that the EntryPoint refuses is an error with any payer', async () => {
    await makeTank(parseEther('1'))
    const { draft } = await newDraft({ nonce: 5n })
    await expect(ask(draft)).rejects.toThrow(ValidationRejectedError)
    await expect(ask(draft)).rejects.toThrow(/AA25/)
    const decisions = await database()
      .selectFrom('decisions')
      .select(['code', 'sponsored', 'message'])
      .where('app_id', '=', appId)
      .execute()
    expect(decisions).toHaveLength(2)
    expect(decisions[0]).toMatchObject({ code: 'ESTIMATION_FAILED', sponsored: false })
    expect(decisions[0]?.message).toContain('AA25')
  })
})

describe('webhooks', () => {
  let server: Server
  let answer = ''
  let asked: string[] = []
  let url = ''
  beforeEach(async () => {
    answer = '{"arePoliciesVerified":true}'
    asked = []
    server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      asked.push(body)
      response.end(answer)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await makeTank(parseEther('1'))
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  const webhookData = { user: 'alice' }
  const register = () => world().webhooks.create(appId, { webhookUrl: url, requestType: 'POST' })

  test('an approval sponsors, and its call is stored with the decision', async () => {
    const { webhookId } = await register()
    const { decision } = await ask((await newDraft()).draft, { webhookData })
    expect(decision.sponsored).toBe(true)
    expect(asked).toEqual(['{"data":{"user":"alice"}}'])
    const calls = await listWebhookCalls(database(), decision.decisionId)
    expect(calls).toMatchObject([
      { webhook_id: webhookId, app_id: appId, outcome: 'approved', http_status: 200, attempts: 1 },
    ])
  })

  test('a denial refuses in its own words, reserves nothing, and is stored', async () => {
    await register()
    answer = '{"arePoliciesVerified":false,"reason":"quota used"}'
    const { decision, paymasterAndData, operation } = await ask((await newDraft()).draft, {
      webhookData,
    })
    expect(decision).toMatchObject({ sponsored: false, code: 'WEBHOOK_DENIED' })
    expect(decision.message).toContain('quota used')
    expect(paymasterAndData).toBe('0x')
    expect(operation.callGasLimit).toBeGreaterThan(0n)
    expect(await listWebhookCalls(database(), decision.decisionId)).toMatchObject([
      { outcome: 'denied', reason: 'quota used' },
    ])
  })

  test('a failure refuses', async () => {
    await register()
    answer = '{"arePoliciesVerified":"true"}'
    const { decision } = await ask((await newDraft()).draft, { webhookData })
    expect(decision.code).toBe('WEBHOOK_FAILED')
    expect(decision.message).toContain('invalid_response')
  })

  test('without webhookData nobody is asked; with it and no active webhook neither', async () => {
    const { webhookId } = await register()
    answer = '{"arePoliciesVerified":false}'
    expect((await ask((await newDraft()).draft)).decision.sponsored).toBe(true)
    await world().webhooks.update(appId, webhookId, false)
    const { decision } = await ask((await newDraft()).draft, { webhookData })
    expect(decision.sponsored).toBe(true)
    expect(asked).toEqual([])
  })

  test('the calls of an operation that cannot be estimated are stored too', async () => {
    await register()
    const { draft } = await newDraft({ nonce: 5n })
    await expect(ask(draft, { webhookData })).rejects.toThrow(/AA25/)
    const decision = await database()
      .selectFrom('decisions')
      .select('id')
      .where('app_id', '=', appId)
      .executeTakeFirstOrThrow()
    expect(await listWebhookCalls(database(), decision.id)).toHaveLength(1)
  })
})

describe('the deposit', () => {
  test('is never promised twice, however many ask at once; what was promised can be spent', async () => {
    const first = await newDraft()
    const fees = feesOf(first.draft)
    const drafts = await Promise.all(Array.from({ length: 8 }, () => newDraft(fees)))
    await makeTank(parseEther('1'))
    const probe = await ask(first.draft)
    const cost = world().entryPoint.requiredPrefund(probe.operation)

    appId = await createApp(database())
    await makeTank(cost * 3n + cost / 2n)
    const results = await Promise.all(drafts.map(({ draft }) => ask(draft)))
    const granted = results.filter(({ decision }) => decision.sponsored)
    const promised = granted.reduce(
      (sum, { operation }) => sum + world().entryPoint.requiredPrefund(operation),
      0n,
    )
    expect(granted).toHaveLength(3)
    expect(promised).toBeLessThanOrEqual(await depositOf())
    for (const { decision } of results.filter((result) => !result.decision.sponsored)) {
      expect(decision.code).toBe('TANK_EMPTY')
    }

    const ops = await Promise.all(
      results.flatMap((result, index) => {
        const { account } = drafts[index] ?? {}
        return account && result.decision.sponsored ? [signed(account, result.operation)] : []
      }),
    )
    const { outcomes } = await include(...ops)
    expect(outcomes.map(({ success }) => success)).toEqual([true, true, true])
  })

  test('is free again once the operation was included and that is known', async () => {
    const { account, draft } = await newDraft()
    await makeTank(parseEther('1'))
    const probe = await ask(draft)
    const cost = world().entryPoint.requiredPrefund(probe.operation)
    appId = await createApp(database())
    await makeTank(cost + cost / 2n)

    const result = await ask(draft)
    const other = (await newDraft(feesOf(draft))).draft
    expect((await ask(other)).decision.code).toBe('TANK_EMPTY')
    expect((await ask(draft)).decision.sponsored).toBe(true)

    const { outcomes } = await include(await signed(account, result.operation))
    const [outcome] = outcomes
    if (outcome === undefined) throw new Error('not included')
    expect((await ask(other)).decision.code).toBe('TANK_EMPTY')
    const included = [{ entryPoint: world().entryPoint.address, outcome }]
    await database()
      .transaction()
      .execute((trx) => settleLedger(trx, world().chainId, included, undefined))
    expect((await ask(other)).decision.sponsored).toBe(true)
  })

  test('is free again once the sponsorship has expired on the chain', async () => {
    const { draft } = await newDraft()
    await makeTank(parseEther('1'))
    const cost = world().entryPoint.requiredPrefund((await ask(draft)).operation)
    appId = await createApp(database())
    await makeTank(cost + cost / 2n)
    const { node } = world().chain
    const until = validUntilOf(await ask(draft, { expiryDuration: 60 }))
    const other = (await newDraft(feesOf(draft))).draft
    const mineAt = async (time: number) => {
      await node.request('evm_setNextBlockTimestamp', [numberToHex(time)])
      await node.request('evm_mine', [])
    }
    await mineAt(until)
    expect((await ask(other)).decision.code).toBe('TANK_EMPTY')
    await mineAt(until + 1)
    expect((await ask(other)).decision.sponsored).toBe(true)
  })
})
