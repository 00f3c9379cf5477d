import { type Hex, parseEther } from 'viem'
import { expect, test } from 'vitest'
import { adviseFees, mostBid } from '../../src/chain/fees.js'
import { bundleCharges, sharedGas } from '../../src/gas/preVerificationGas.js'
import { putBundleSize } from '../../src/mempool/bundleSizes.js'
import { findOperation } from '../../src/mempool/pool/operations.js'
import { until } from '../support/until.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'

/*
 * Operations are sponsored in quiet traffic, for a bundle of one, and sent when the expected size of bundles has risen. What
 * they paid beyond their share is owed all the same.
 */

const SIZE = 6

const { world, chain, makeTank, ...app } = useSponsoredApp('0.7', {
  definition: { maxBundleWait: 0, expectedBundleSize: 'auto' },
})

test('a size that has risen since the signature does not lower what is given back', async () => {
  const { address: tank } = await makeTank(parseEther('5'))
  const { heads, definition, database, chainId } = world()
  const { node } = world().chain
  const { entryPoint } = chain()
  const sponsored: Awaited<ReturnType<typeof app.draftOf>>[] = []
  while (sponsored.length < SIZE) sponsored.push(await app.draftOf('deployed'))
  const { fast } = await adviseFees(node, await heads.refresh(), definition)
  const fees = mostBid(node, fast)
  const signed = await Promise.all(
    sponsored.map(async ({ seed, draft }) => {
      const { operation, decision } = await app.ask({ ...draft, ...fees })
      expect(decision).toMatchObject({ code: 'SPONSORED' })
      return chain().sign(operation, seed)
    }),
  )

  const { draft } = sponsored[0]!
  const options = { appId: app.appId(), requester: undefined }
  const estimated = async () =>
    (await world().services.estimate(entryPoint, draft, options)).preVerificationGas
  const quiet = await estimated()
  await putBundleSize(database, chainId, entryPoint.address, SIZE)
  await until(async () => (await estimated()) < quiet - 20_000n)
  const hashes: Hex[] = []
  for (const op of signed) hashes.push(await world().admit(op, entryPoint))
  const stored = await Promise.all(hashes.map((hash) => findOperation(database, chainId, hash)))
  expect(stored.map((each) => each?.sharedBy)).toEqual(hashes.map(() => 1))

  await world().settle()
  const { actualGasCost, actualGasUsed } = await world().receipt(hashes[0]!)
  const shared = BigInt(sharedGas(entryPoint, bundleCharges(definition)))
  const owed = await database.selectFrom('surpluses').selectAll().where('tank', '=', tank).execute()
  const amounts = owed.map(({ amount }) => amount)
  const price = actualGasCost / actualGasUsed
  expect(amounts).toEqual([((shared * BigInt(SIZE - 1) * price) / BigInt(SIZE)) * BigInt(SIZE)])
})
