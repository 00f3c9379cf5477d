import { type Address, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import type { NodeClient } from '../../src/chain/nodeClient.js'
import type { Draft } from '../../src/erc4337/draft.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { estimateOperation, type GasEstimate } from '../../src/gas/estimateOperation.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { sponsorshipHash } from '../../src/paymaster/tank/sponsorshipHash.js'
import { encodeTankData } from '../../src/paymaster/tank/tankData.js'
import { stubSignature } from '../../src/gas/placeholder.js'
import type { TankOperation } from '../../src/paymaster/tank/tankTypedData.js'
import { contextPaymasterCode } from '../support/chain/contextPaymaster.js'
import { withoutHeadroom } from '../support/operations/withoutHeadroom.js'
import { SIGNER_A, senderKinds, VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

const range = { validUntil: 0, validAfter: 0 }
const payers = ['itself', 'a tank', 'a paymaster with postOp'] as const
type Payer = (typeof payers)[number]

describe.each(VERSIONS)('estimates in-process, EntryPoint v%s:', (version) => {
  const chain = useVersionChain(version)
  let tank: Address
  let charging: Address
  let count = 0

  beforeAll(async () => {
    tank = await chain().createTank(0)
    charging = await chain().deploy(contextPaymasterCode(8))
    await chain().deposit(charging, parseEther('1'))
    await chain().engine.heads.refresh()
  })

  async function estimate(
    draft: Draft,
    asked: NodeClient = chain().engine.node,
  ): Promise<GasEstimate> {
    const { node, heads } = chain().engine
    const context = {
      node: asked,
      engine: chain().engine,
      definition: { chainId: 31_337, maxBundleGas: 16_000_000n, maxVerificationGas: 5_000_000n },
      advice: await adviseFees(node, heads.current(), {}),
      bundleSize: 1,
      hasBeneficiary: false,
    }
    return estimateOperation(context, chain().entryPoint, draft)
  }

  const unset = {
    callGasLimit: undefined,
    verificationGasLimit: undefined,
    preVerificationGas: undefined,
    maxFeePerGas: undefined,
    maxPriorityFeePerGas: undefined,
    paymasterVerificationGasLimit: undefined,
    paymasterPostOpGasLimit: undefined,
  }

  const paidBy = (payer: Payer): Partial<Draft> => {
    if (payer === 'itself') return {}
    if (payer === 'a tank') {
      return { paymaster: tank, paymasterData: encodeTankData(range, stubSignature) }
    }
    return { paymaster: charging, paymasterData: '0x' }
  }

  async function sign(op: Operation, seed: string): Promise<Operation> {
    if (op.paymaster !== tank) return chain().sign(op, seed)
    const hash = sponsorshipHash(op as TankOperation, chain().entryPoint, chain().chainId, range)
    const signature = await privateKeyToAccount(SIGNER_A).sign({ hash })
    return chain().sign({ ...op, paymasterData: encodeTankData(range, signature) }, seed)
  }

  const calls = {
    'no call': undefined,
    'a call': () => chain().onTarget('write', 0n, 3n),
    'a nested call': () => chain().onTarget('nest', 8n, 10n),
  }
  const cases = senderKinds(version).flatMap((kind) =>
    payers.flatMap((payer) =>
      (Object.keys(calls) as (keyof typeof calls)[]).map((name) => [kind, payer, name] as const),
    ),
  )

  test('what the head has answered once is not asked of the node again', async () => {
    const unasked = (): never => {
      throw new Error('the node was asked')
    }
    const silent = { ...chain().engine.node, request: unasked, batch: unasked }
    const draft: Draft = { ...(await chain().draft('deployed', 'asked once')), ...unset }
    await chain().engine.heads.refresh()
    const first = await estimate(draft)
    chain().engine.batches()
    expect(await estimate(draft, silent)).toEqual(first)
    expect(chain().engine.batches()).toEqual([])
  })

  test.each(cases)(
    'a %s sender paid by %s with %s succeeds, and not with less',
    async (kind, payer, name) => {
      const seed = `sender ${count++}`
      const call = calls[name]?.()
      const drafted = await chain().draft(kind, seed, call)
      const callData = name === 'no call' ? '0x' : drafted.callData
      const draft: Draft = { ...drafted, callData, ...unset, ...paidBy(payer) }
      await chain().engine.heads.refresh()
      const gas = await estimate(draft)
      await chain().fund(draft.sender)

      const op = complete(draft, gas)
      const sent = async (changes: Partial<Operation>) => {
        const signed = await sign({ ...op, ...changes }, seed)
        return (await chain().undone(() => chain().send(signed))).outcome
      }
      expect(await sent({})).toMatchObject({ success: true })
      // The price at its highest, where what is charged comes closest to the prefund.
      expect(await sent({ maxPriorityFeePerGas: op.maxFeePerGas })).toMatchObject({ success: true })

      const isSeparate = version !== '0.6' && payer !== 'itself'
      const slack = 4000n
      const fields = {
        callGasLimit: callData === '0x' ? 0n : op.callGasLimit,
        verificationGasLimit: withoutHeadroom(
          chain().entryPoint,
          op,
          payer.endsWith('postOp') ? 1_024 : 0,
        ),
        paymasterVerificationGasLimit: isSeparate ? op.paymasterVerificationGasLimit - slack : 0n,
        paymasterPostOpGasLimit: isSeparate ? op.paymasterPostOpGasLimit : 0n,
      }
      for (const [field, limit] of Object.entries(fields)) {
        if (limit === 0n) continue
        const less = limit - limit / 64n - 65n - (limit === fields.callGasLimit ? 0n : 300n)
        const outcome = await sent({ [field]: less })
        expect(outcome?.success ?? false, `${field} ${less} instead of ${limit}`).toBe(false)
      }
    },
  )
})
