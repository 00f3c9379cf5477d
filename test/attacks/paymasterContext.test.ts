import { type Address, type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import type { Version } from '../../src/entrypoint/entryPoint.js'
import type { Operation } from '../../src/entrypoint/operation.js'
import { versionFacts } from '../../src/entrypoint/versionFacts.js'
import { PreVerificationGasTooLowError } from '../../src/errors/operationErrors.js'
import { entityOperation, placeEntity } from '../support/chain/answeringEntity.js'
import { expectNoLoss } from '../support/chain/executorGains.js'
import { type MixedBundling, startMixedBundling } from '../support/chain/mixedBundling.js'
import { useDatabase } from '../support/database/database.js'
import { VERSIONS } from '../support/tanks/tankChain.js'

/*
 * The attacker's paymaster returns a long context. The EntryPoint copies it to the inner call and to
 * postOp, v0.6 and v0.7 word by word, and charges nobody for the copies.
 */

const postgres = useDatabase()
let entities = 0

describe.each(VERSIONS)('EntryPoint v%s', (version: Version) => {
  let bundling: MixedBundling

  beforeAll(async () => {
    // ERC-7562 lets only staked paymasters return a context; a stake costs the attacker nothing.
    bundling = await startMixedBundling(postgres().database, { rules: 'off', maxBundleWait: 0 })
  })
  afterAll(() => bundling?.stop())

  const limits = versionFacts[version].hasPaymasterLimits
    ? { paymasterVerificationGasLimit: 300_000n, paymasterPostOpGasLimit: 40_000n }
    : { verificationGasLimit: 500_000n }

  const admitCheapest = async (sender: Address, paymaster: Address): Promise<Hex> => {
    const { node, heads } = bundling.chains[version].engine
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
        return await bundling.admit(bundling.chains[version].entryPoint, priced)
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
    const chain = bundling.chains[version]
    const hashes: Hex[] = []
    for (const contextSize of sizes) {
      const paymaster = await placeEntity(chain, ++entities, { contextSize })
      await chain.deposit(paymaster, parseEther('1'))
      hashes.push(await admitCheapest(await placeEntity(chain, ++entities), paymaster))
    }
    const from = await bundling.tester.getBlockNumber()
    await bundling.settle()
    for (const hash of hashes) expect((await bundling.receipt(hash)).success).toBe(true)
    const purse = bundling.executors.map(({ address }) => address)
    await expectNoLoss(bundling.tester, purse, from)
  })
})
