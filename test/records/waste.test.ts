import { type Hex, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { readSpend } from '../../src/records/spend.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'
import { VERSIONS } from '../support/world/versionChain.js'

/* What the books say of gas that limits left unused, compared with a second run of each operation. */

/** Gas by which callGasLimit is more than the operations need. */
const EXCESS = [0n, 20_000n, 100_000n, 190_000n]

describe.each(VERSIONS)('EntryPoint v%s', (version) => {
  const { world, chain, appId, draftOf, ask, makeTank } = useSponsoredApp(version)

  /** A sponsored operation of a fresh account, admitted. */
  const admit = async (excess: bigint): Promise<Hex> => {
    const { seed, draft } = await draftOf('deployed', '0x1234')
    const { operation: needed } = await ask(draft)
    const callGasLimit = needed.callGasLimit + excess
    const { decision, operation } = await ask(
      { ...needed, callGasLimit },
      { calculateGasLimits: false },
    )
    expect(decision).toMatchObject({ code: 'SPONSORED' })
    expect(operation.callGasLimit).toBe(callGasLimit)
    const signed = await chain().sign(operation, seed)
    return world().services.admit(chain().entryPoint, signed, {
      appId: appId(),
      requester: undefined,
      simulateExecution: false,
    })
  }

  const booked = (hash: Hex) =>
    world()
      .database.selectFrom('reservations')
      .select(['state', 'actual_cost', 'rebate', 'wasted'])
      .where('user_op_hash', '=', hash)
      .executeTakeFirstOrThrow()

  /** Compares an operation with the waterfall of its charge; gives what it wasted, in wei. */
  const compared = async (hash: Hex): Promise<bigint> => {
    const { actual_cost: cost, rebate, wasted } = await booked(hash)
    const { success, actualGasUsed, actualGasCost, receipt } = await world().receipt(hash)
    expect(success).toBe(true)
    const { operation, sharedBy } = await world().stored(hash)
    const charged = { operation, success, actualGasUsed, actualGasCost, sharedBy }
    const { blockHash } = receipt
    const { parts, state } = await world().services.waterfall(
      chain().entryPoint,
      { ...charged, blockHash },
      undefined,
    )
    expect(state).toBe('before')
    const gasOf = (kind: string) => parts.find((part) => part.kind === kind)?.gas ?? 0n
    const price = (cost + rebate) / actualGasUsed
    expect(wasted).not.toBeNull()
    // What it saved because of those before it in its bundle, of which validation saved most.
    const error = Number(-gasOf('neighbours')) / 9 + 2
    const found = Number(wasted! / price) - Number(gasOf('unusedGas'))
    expect(Math.abs(found), `${found} of ${error}`).toBeLessThanOrEqual(error)
    expect(wasted!).toBeLessThan(cost)
    return wasted!
  }

  const spent = async () => {
    const from = new Date(Date.now() - 86_400_000)
    const lines = await readSpend(world().database, {
      accountId: undefined,
      from,
      until: new Date(Date.now() + 86_400_000),
    })
    return lines.filter((line) => line.appId === appId())
  }

  test('what a bundle wasted is what a second run finds, and its sum is that of the app', async () => {
    await makeTank(parseEther('10'))
    const hashes: Hex[] = []
    for (const excess of EXCESS) hashes.push(await admit(excess))
    await world().settle()
    const wasted: bigint[] = []
    for (const hash of hashes) wasted.push(await compared(hash))
    const alone = await admit(190_000n)
    await world().settle()
    wasted.push(await compared(alone))
    if (version === '0.6') expect(wasted).toEqual(wasted.map(() => 0n))
    else expect(wasted.filter((wei) => wei > 0n).length).toBeGreaterThanOrEqual(3)
    const total = wasted.reduce((sum, each) => sum + each, 0n)
    expect(await spent()).toMatchObject([{ operations: 5n, measured: 5n, wastedWei: total }])
  })

  test('of a granted operation it is at the price that the credit pays; a reorg undoes it', async () => {
    await world().funds.setMode(appId(), 'native')
    await world().funds.credit(appId(), parseEther('1'), 'invoice')
    const hash = await admit(150_000n)
    await world().settle()
    const wasted = await compared(hash)
    if (version !== '0.6') expect(wasted).toBeGreaterThan(0n)
    const { receipt } = await world().receipt(hash)
    const { number } = await world().heads.refresh()
    await world().anvil.request('anvil_reorg', [Number(number - receipt.blockNumber) + 1, []])
    await world().round()
    expect(await spent()).toEqual([])
    await world().settle()
    await compared(hash)
    expect(await spent()).toMatchObject([{ operations: 1n, measured: 1n }])
  })

  test('of an operation whose validation is not known it is not known', async () => {
    await makeTank(parseEther('1'))
    const hash = await admit(100_000n)
    await world()
      .database.updateTable('operations')
      .set({ first_validation: null })
      .where('hash', '=', hash)
      .execute()
    await world().settle()
    expect((await booked(hash)).wasted).toBeNull()
    expect(await spent()).toMatchObject([{ operations: 1n, measured: 0n, wastedWei: 0n }])
  })
})
