import { type Address, encodeFunctionData, type Hex, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { tank07, tankFactoryAddress } from '../../src/chain/contracts/deployments.js'
import { abi as factoryAbi } from '../../src/chain/contracts/generated/TankFactory.js'
import type { Draft } from '../../src/erc4337/draft.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { findDecision } from '../../src/paymaster/ledger/decisions.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'
import { senderKinds, TARGET } from '../support/world/versionChain.js'

const versions = ['0.7', '0.8', '0.9'] as const satisfies readonly Version[]
describe.each(versions)('sponsoring on EntryPoint v%s', (version) => {
  const { world, chain, appId, draftOf, requestFor, ask, refusalOf, ...app } =
    useSponsoredApp(version)
  const makeTank = (wei = parseEther('1')) => app.makeTank(wei)

  test('the tank stands where the factory predicts', async () => {
    const tank = await makeTank(1n)
    const data = encodeFunctionData({
      abi: factoryAbi,
      functionName: 'predict',
      args: [
        tank07.address,
        chain().entryPoint.address,
        world().owner,
        tank.signer,
        `0x${'00'.repeat(20)}`,
        `0x${'00'.repeat(32)}`,
      ] as [Address, Address, Address, Address, Address, Hex],
    })
    const answer = await chain().wallet.call({ to: tankFactoryAddress.address, data })
    expect(`0x${answer.data?.slice(-40)}`).toBe(tank.address)
    expect(await world().tanks.show(appId(), chain().entryPoint)).toMatchObject({
      deployed: true,
      deposit: 1n,
    })
  })

  test.each(senderKinds(version))('a %s sender costs its tank to the wei', async (kind) => {
    const tank = await makeTank()
    const { seed, draft } = await draftOf(kind)
    const { decision, operation } = await ask(draft)
    expect(decision).toMatchObject({ sponsored: true, code: 'SPONSORED' })
    expect(operation.paymasterPostOpGasLimit).toBe(1n)
    const { outcome } = await chain().send(await chain().sign(operation, seed))
    expect(outcome).toMatchObject({ success: true, paymaster: tank.address, sender: draft.sender })
    const left = (await world().tanks.show(appId(), chain().entryPoint))?.deposit
    expect(left).toBe(parseEther('1') - outcome!.actualGasCost)
    const stored = await findDecision(world().database, decision.decisionId)
    expect(stored).toMatchObject({
      user_op_hash: outcome!.userOpHash,
      max_cost: chain().entryPoint.requiredPrefund(operation),
    })
    expect(outcome!.actualGasCost).toBeLessThan(stored!.max_cost)
  })

  test('the packed field holds tank, both limits and data', async () => {
    const tank = await makeTank()
    const { operation, paymasterAndData } = await ask((await draftOf('counterfactual')).draft)
    const limit = operation.paymasterVerificationGasLimit.toString(16).padStart(32, '0')
    expect(paymasterAndData).toBe(
      tank.address + limit + '1'.padStart(32, '0') + operation.paymasterData.slice(2),
    )
  })

  test.each([
    'callGasLimit',
    'verificationGasLimit',
    'preVerificationGas',
    'paymasterVerificationGasLimit',
    'paymasterPostOpGasLimit',
    'maxFeePerGas',
    'maxPriorityFeePerGas',
  ] as const)('with another %s the tank refuses (AA34)', async (field) => {
    await makeTank()
    const { seed, draft } = await draftOf('counterfactual')
    const { operation } = await ask(draft)
    expect(await refusalOf(operation, seed)).toBeUndefined()
    const changed = { ...operation, [field]: operation[field] + 1n }
    expect(await refusalOf(changed, seed)).toMatch(/^AA34/)
  })

  test.each([0, 4_000, 60_000])(
    'a stub names limit and length that are signed later, with %d bytes of call data',
    async (size) => {
      const tank = await makeTank()
      const { seed, draft } = await draftOf('deployed', `0x${'ab'.repeat(size)}`)
      const stub = await world().services.stub(requestFor(draft))
      const { operation } = await ask(draft)
      expect(stub).toMatchObject({ paymaster: tank.address, paymasterPostOpGasLimit: 1n })
      expect(stub?.paymasterVerificationGasLimit).toBe(operation.paymasterVerificationGasLimit)
      expect(stub?.paymasterData).toHaveLength(operation.paymasterData.length)
      expect(await refusalOf(operation, seed)).toBeUndefined()
    },
  )

  test('limits that the client gives are kept, where they do', async () => {
    await makeTank()
    const { seed, draft } = await draftOf('counterfactual')
    const needed = (await ask(draft)).operation
    const given = {
      callGasLimit: needed.callGasLimit + 20_000n,
      verificationGasLimit: needed.verificationGasLimit + 40_000n,
      preVerificationGas: needed.preVerificationGas + 5_000n,
      paymasterVerificationGasLimit: needed.paymasterVerificationGasLimit + 40_000n,
    }
    const { operation } = await ask({ ...draft, ...given }, { calculateGasLimits: false })
    expect(operation).toMatchObject(given)
    expect(await refusalOf(operation, seed)).toBeUndefined()
    const low = { ...draft, ...given, paymasterVerificationGasLimit: 1_000n }
    const raised = (await ask(low, { calculateGasLimits: false })).operation
    expect(raised.paymasterVerificationGasLimit).toBeGreaterThan(20_000n)
    expect(await refusalOf(raised, seed)).toBeUndefined()
  })

  if (version !== '0.7') {
    test('an account that is delegated already needs no authorization', async () => {
      const tank = await makeTank()
      const { seed, draft } = await draftOf('delegated')
      const first = await ask(draft)
      await chain().send(await chain().sign(first.operation, seed))
      const again: Draft = {
        ...draft,
        nonce: draft.nonce + 1n,
        authorization: undefined,
        maxFeePerGas: undefined,
      }
      const { operation, decision } = await ask(again)
      expect(decision.sponsored).toBe(true)
      const delegate = draft.authorization?.address
      const { user_op_hash: hash } = (await findDecision(world().database, decision.decisionId))!
      expect(hash).toBe(chain().entryPoint.hash(operation, chain().chainId, delegate))
      const signed = await chain().sign({ ...operation, authorization: draft.authorization }, seed)
      const { outcome } = await chain().send({ ...signed, authorization: undefined })
      expect(outcome).toMatchObject({ success: true, paymaster: tank.address, userOpHash: hash })
    })
  }

  if (version === '0.9') {
    /** The steps of a client with a stub, before anything is signed. */
    const commit = async () => {
      const tank = await makeTank()
      const { seed, draft } = await draftOf('counterfactual')
      const { fast } = await world().services.fees(appId())
      const filled: Draft = { ...draft, ...fast }
      const stub = await world().services.stub(requestFor(filled, { signingPhase: 'commit' }))
      if (stub === undefined) throw new Error('no tank pays')
      const estimate = await world().estimate(chain().entryPoint, { ...filled, ...stub })
      const op = complete({ ...filled, ...stub }, estimate)
      return { tank, seed, op }
    }
    const finalize = (op: Operation) => ask(op, { signingPhase: 'finalize' })

    test('account and tank sign at the same time', async () => {
      const { tank, seed, op } = await commit()
      const [signed, { decision, operation }] = await Promise.all([
        chain().sign(op, seed),
        finalize(op),
      ])
      expect(decision).toMatchObject({ sponsored: true })
      expect(operation).toEqual({ ...op, paymasterData: operation.paymasterData })
      const { paymasterData } = operation
      const { outcome } = await chain().send({ ...signed, paymasterData })
      expect(outcome).toMatchObject({ success: true, paymaster: tank.address })
      const stored = await findDecision(world().database, decision.decisionId)
      expect(stored?.user_op_hash).toBe(outcome?.userOpHash)
      expect(stored?.max_cost).toBe(chain().entryPoint.requiredPrefund(op))
    })

    test('a verification limit that covers the need is signed, also where the estimate has more by now', async () => {
      const { seed, op } = await commit()
      // As where a passkey takes a tenth more gas for another hash.
      const verificationGasLimit = (op.verificationGasLimit * 9n) / 10n
      const lower = { ...op, verificationGasLimit }
      const { decision, operation } = await finalize(lower)
      expect(decision).toMatchObject({ sponsored: true })
      expect(operation).toEqual({ ...lower, paymasterData: operation.paymasterData })
      const { outcome } = await chain().send(await chain().sign(operation, seed))
      expect(outcome?.success).toBe(true)
    })

    test('nothing is reserved or sponsored by committing', async () => {
      const { seed, op } = await commit()
      expect(await refusalOf(op, seed)).toMatch(/^AA34/)
      const row = await world()
        .database.selectFrom('decisions')
        .select(({ fn }) => fn.countAll<bigint>().as('count'))
        .where('app_id', '=', appId())
        .executeTakeFirstOrThrow()
      expect(row.count).toBe(0n)
    })

    test.each<[string, (op: Operation) => Partial<Operation>]>([
      ['GAS_TOO_LOW', (op) => ({ preVerificationGas: op.preVerificationGas - 1n })],
      ['COMMITMENT_CHANGED', () => ({ paymaster: TARGET })],
      [
        'COMMITMENT_EXPIRED',
        (op) => ({ paymasterData: `0x000000000001${op.paymasterData.slice(14)}` }),
      ],
    ])('%s refuses what cannot be signed as it stands', async (code, change) => {
      const { op } = await commit()
      const { decision } = await finalize({ ...op, ...change(op) })
      expect(decision).toMatchObject({ sponsored: false, code })
    })
  }
})
