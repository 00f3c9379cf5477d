import { type Address, encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { PreVerificationGasTooLowError } from '../../src/base/errors/operationErrors.js'
import { PurserError } from '../../src/base/errors/purserError.js'
import { adviseFees } from '../../src/chain/fees.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { versionFacts } from '../../src/erc4337/versionFacts.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { entityOperation, placeEntity } from '../support/chain/answeringEntity.js'
import { expectNoLoss } from '../support/chain/executorGains.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'
import { useDatabase } from '../support/database/database.js'
import { openWorld } from '../support/world/openWorld.js'

/*
 * The attacker's paymaster returns a long context. The EntryPoint copies it to the inner call and to
 * postOp, v0.6 and v0.7 word by word, and charges nobody for the copies.
 */

const postgres = useDatabase()
let entities = 0

describe.each(VERSIONS)('EntryPoint v%s', (version: Version) => {
  const bundling = useWorld({ definition: { rules: 'off', maxBundleWait: 0 } })

  const limits = versionFacts[version].hasPaymasterLimits
    ? { paymasterVerificationGasLimit: 300_000n, paymasterPostOpGasLimit: 40_000n }
    : { verificationGasLimit: 500_000n }

  const admitCheapest = async (sender: Address, paymaster: Address): Promise<Hex> => {
    const { node, heads } = bundling().at(version).engine
    const { standard } = await adviseFees(node, await heads.refresh(), {})
    const op: Operation = {
      ...entityOperation(sender, '0xffffffff', paymaster),
      ...limits,
      ...standard,
      maxFeePerGas: standard.maxFeePerGas * 2n,
    }
    let preVerificationGas = 1n
    for (;;) {
      try {
        const priced = { ...op, preVerificationGas }
        return await bundling().admit(priced, bundling().at(version).entryPoint)
      } catch (error) {
        if (!(error instanceof PreVerificationGasTooLowError)) throw error
        preVerificationGas = BigInt((error.data as { required: string }).required)
      }
    }
  }

  test.each([
    [[1]],
    [[1_000]],
    [[10_000]],
    [[30_720]],
    [[60_000]],
    [[60_000, 60_000, 1_000]],
    [[60_000, 0, 0, 0, 0, 0, 0, 0]],
    [[32, 320, 3_200, 1_000, 10_000]],
  ])('contexts of %j bytes cost the executor nothing', async (sizes) => {
    const chain = bundling().at(version)
    const hashes: Hex[] = []
    for (const contextSize of sizes) {
      const paymaster = await placeEntity(chain, ++entities, { contextSize })
      await chain.deposit(paymaster, parseEther('1'))
      hashes.push(await admitCheapest(await placeEntity(chain, ++entities), paymaster))
    }
    const from = await bundling().tester.getBlockNumber()
    await bundling().settle()
    for (const hash of hashes) expect((await bundling().receipt(hash)).success).toBe(true)
    const purse = bundling().executors.map(({ address }) => address)
    await expectNoLoss(bundling().tester, purse, from)
  })

  test.each([0, 1_000, 10_000, 20_000, 30_000, 45_000, 65_000])(
    'a context of %i bytes, with limits of our estimate: included at its price',
    async (contextSize) => {
      const chain = bundling().at(version)
      const paymaster = await placeEntity(chain, ++entities, { contextSize, idles: true })
      await chain.deposit(paymaster, parseEther('1'))
      const sender = await placeEntity(chain, ++entities, { idles: true })
      const { entryPoint } = chain
      const draft = { ...entityOperation(sender, '0xffffffff', paymaster), ...unsetGas }
      const estimate = await bundling().estimate(entryPoint, draft)
      const maxFeePerGas = estimate.maxFeePerGas * 2n
      const from = await bundling().tester.getBlockNumber()
      const hash = await bundling().admit(
        complete(draft, { ...estimate, maxFeePerGas }),
        entryPoint,
      )
      await bundling().settle()
      const { reasonCode, reason } = await bundling().stored(hash)
      expect({ reasonCode, reason }).toEqual({ reasonCode: null, reason: null })
      const { success, actualGasCost, receipt } = await bundling().receipt(hash)
      expect(success).toBe(true)
      const cost = receipt.gasUsed * receipt.effectiveGasPrice
      expect(Number((actualGasCost * 1_000n) / cost) / 10).toBeLessThan(104)
      const purse = bundling().executors.map(({ address }) => address)
      await expectNoLoss(bundling().tester, purse, from)
    },
  )
})

test('v0.6: what no bundle would take, as its prefund covers the least tip no more, is refused at once', async () => {
  const bundling = await openWorld(postgres().database, {
    versions: ['0.6'],
    definition: { rules: 'off', maxBundleWait: 0 },
  })
  try {
    const chain = bundling.at('0.6')
    const paymaster = await placeEntity(chain, 1, { contextSize: 30_000, idles: true })
    await chain.deposit(paymaster, parseEther('1'))
    const sender = await placeEntity(chain, 2, { idles: true })
    const draft = { ...entityOperation(sender, '0xffffffff', paymaster), ...unsetGas }
    const estimate = await bundling.estimate(chain.entryPoint, draft)
    const { standard } = await adviseFees(bundling.chain.node, await bundling.heads.refresh(), {})
    const outcomes = { refused: 0, included: 0 }
    for (let percent = 100n; percent >= 50n; percent -= 5n) {
      const verificationGasLimit = (estimate.verificationGasLimit * percent) / 100n
      const sent = complete(draft, { ...estimate, ...standard, verificationGasLimit })
      const { nonce } = entityOperation(sender, '0x')
      const op = { ...sent, nonce: nonce + BigInt(outcomes.included) }
      let hash: Hex
      try {
        hash = await bundling.admit(op, chain.entryPoint)
      } catch (error) {
        expect(error).toBeInstanceOf(PurserError)
        outcomes.refused++
        continue
      }
      await bundling.settle()
      expect(await bundling.stateOf(hash), `${percent} % of the limit`).toBe('included')
      outcomes.included++
    }
    expect(outcomes.refused).toBeGreaterThan(0)
    expect(outcomes.included).toBeGreaterThan(0)
  } finally {
    await bundling.stop()
  }
})

test('LIM-050: contexts of two staked paymasters that exceed what a bundle may hold go in two bundles', async () => {
  const world = await openWorld(postgres().database, {
    versions: ['0.8'],
    definition: { rules: 'full', maxBundleWait: 0 },
  })
  try {
    const chain = world.at('0.8')
    const { address } = chain.entryPoint
    const data = encodeFunctionData({
      abi: parseAbi(['function addStake(uint32 delay) payable']),
      functionName: 'addStake',
      args: [86_400],
    })
    const hashes: Hex[] = []
    for (const contextSize of [40_000, 40_000, 10_000]) {
      const paymaster = await placeEntity(chain, ++entities, { contextSize, idles: true })
      await chain.deposit(paymaster, parseEther('1'))
      await world.anvil.request('anvil_impersonateAccount', [paymaster])
      await world.tester.setBalance({ address: paymaster, value: parseEther('2') })
      await world.anvil.send({ from: paymaster, to: address, data, value: '0xde0b6b3a7640000' })
      const sender = await placeEntity(chain, ++entities, { idles: true })
      const draft = { ...entityOperation(sender, '0xffffffff', paymaster), ...unsetGas }
      const estimate = await world.estimate(chain.entryPoint, draft)
      // It pays for every copy, and has gas for its validation, whatever contexts are in its bundle.
      const paid = {
        maxFeePerGas: estimate.maxFeePerGas * 2n,
        preVerificationGas: estimate.preVerificationGas * 4n,
        paymasterVerificationGasLimit: estimate.verificationGasLimit * 4n,
        verificationGasLimit: estimate.verificationGasLimit * 4n,
      }
      hashes.push(await world.admit(complete(draft, { ...estimate, ...paid }), chain.entryPoint))
    }
    await world.settle()
    const receipts = await Promise.all(hashes.map((hash) => world.receipt(hash)))
    expect(receipts.map(({ success }) => success)).toEqual([true, true, true])
    const bundles = receipts.map(({ receipt }) => receipt.transactionHash)
    expect(bundles[1]).not.toBe(bundles[0])
    expect(new Set(bundles).size).toBe(2)
  } finally {
    await world.stop()
  }
})
