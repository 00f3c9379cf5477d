import { type Address, type Hex, numberToHex, parseGwei } from 'viem'
import { describe, expect, test } from 'vitest'
import { ceilingWait } from '../../src/bundler/feeCeiling.js'
import { createRandom } from '../evm/random.js'
import { requestCancellation } from '../../src/mempool/pool/successors.js'
import { inTransaction } from '../../src/db/inTransaction.js'
import { putGrants } from '../../src/paymaster/ledger/grants.js'
import { useWorld } from '../support/world.js'

const [calm, spike, ceiling] = [parseGwei('10'), parseGwei('200'), parseGwei('30')]
const mostTip = parseGwei('4')
/** Fees that would pay for the spike: only the ceiling keeps executors from paying it. */
const eager = { maxFeePerGas: parseGwei('900'), maxPriorityFeePerGas: parseGwei('5') }
const seed = Number(process.env.PURSER_SEED ?? 20_261_124)
/** Blocks of the spike: 5 minutes of 12 s ones. */
const SPIKE = 25

describe('with a fee ceiling', () => {
  const chain = useWorld({
    definition: {
      feeCeiling: { maxFeePerGas: ceiling, maxPriorityFeePerGas: mostTip },
      resubmitAfter: 0,
      maxBundlesPerExecutor: 2,
      maxOperations: 1_000,
    },
  })

  const block = async (baseFee: bigint): Promise<void> => {
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(baseFee)])
    await chain().mine()
    // The block that comes has the same, as in a spike that goes on.
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(baseFee)])
  }
  const wait = () => ceilingWait(chain().context, chain().heads.current())

  /** Accounts that were made while blocks are cheap. */
  const accounts: Address[] = []
  const nextAccount = (): Address => accounts.pop()!
  const makeAccounts = async (count: number): Promise<void> => {
    while (accounts.length < count) accounts.push(await chain().createAccount())
  }

  const admitted = (): Promise<Hex> => chain().admit(chain().operation(nextAccount(), eager))

  /** One without fees of its own, which the operator pays. */
  const granted = async (): Promise<Hex> => {
    const none = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    const op = chain().operation(nextAccount(), none)
    const { chainId } = chain().definition
    const userOpHash = chain().entryPoint.hash(op, chainId)
    const validUntil = Math.floor(Date.now() / 1000) + 600
    const grant = { chainId, userOpHash, appId: chain().appId, validUntil, ...eager }
    await inTransaction(chain().database, (trx) => putGrants(trx, [grant]))
    return chain().admit(op)
  }

  test(`a spike ×20 (seed ${seed}) costs the ceiling at most, and no operation`, async () => {
    const random = createRandom(seed)
    const hashes: Hex[] = []
    await block(calm)
    await makeAccounts(SPIKE + 5)
    hashes.push(await admitted(), await granted())
    await chain().settle()
    expect(await wait()).toBeUndefined()

    // In flight when the spike begins.
    await block(calm)
    await chain().setAutomine(false)
    hashes.push(await admitted(), await granted())
    await chain().round()
    const before = await chain().openBundles()
    expect(before.length).toBeGreaterThan(0)
    for (let each = 0; each < SPIKE; each++) {
      await block(spike)
      expect(await wait()).toBe('waiting: base fee 200 gwei above your ceiling 30 gwei')
      if (random.below(3) === 0) {
        const isGranted = random.below(2) === 0
        hashes.push(await (isGranted ? granted() : admitted()))
      }
      await chain().round()
    }
    expect(hashes.length).toBeGreaterThan(6)
    // Nothing new was sent, and nothing raised to where it is of no use.
    const during = await chain().openBundles()
    expect(during.map(({ id }) => id)).toEqual(before.map(({ id }) => id))

    await chain().setAutomine(true)
    await block(calm)
    expect(await wait()).toBeUndefined()
    await chain().settle()
    for (const hash of hashes) expect(await chain().stateOf(hash)).toBe('included')

    const paid = await chain()
      .database.selectFrom('bundle_transactions as t')
      .innerJoin('bundles as b', 'b.id', 't.bundle_id')
      .select(['t.max_fee_per_gas', 't.max_priority_fee_per_gas'])
      .where('b.chain_id', '=', BigInt(chain().definition.chainId))
      .execute()
    // Before the spike, in flight when it began, and after it.
    expect(paid.length).toBeGreaterThanOrEqual(3)
    for (const fees of paid) {
      expect(fees.max_fee_per_gas).toBeLessThanOrEqual(ceiling)
      expect(fees.max_priority_fee_per_gas).toBeLessThanOrEqual(mostTip)
    }
    for (const hash of hashes) {
      const { receipt } = await chain().receipt(hash)
      expect(receipt.effectiveGasPrice).toBeLessThanOrEqual(ceiling)
    }
  })

  test('a stuck bundle is raised up to the ceiling and no further', async () => {
    await block(calm)
    await makeAccounts(1)
    await chain().setAutomine(false)
    const hash = await admitted()
    for (let each = 0; each < 12; each++) await chain().round()
    const [bundle] = await chain().openBundles()
    expect(bundle!.attempts.length).toBeGreaterThan(1)
    const highest = bundle!.attempts.at(-1)!
    expect(highest.maxPriorityFeePerGas).toBeLessThanOrEqual(mostTip)
    expect(highest.maxFeePerGas).toBeLessThanOrEqual(ceiling)
    await chain().setAutomine(true)
    await chain().mine()
    await chain().settle()
    expect(await chain().stateOf(hash)).toBe('included')
  })

  test('a bundle at the ceiling that the nodes lost and the operator wants back frees its executor', async () => {
    await block(calm)
    await makeAccounts(2)
    await chain().setAutomine(false)
    const hash = await admitted()
    for (let each = 0; each < 12; each++) await chain().round()
    const [bundle] = await chain().openBundles()
    for (const attempt of bundle!.attempts)
      await chain().anvil.request('anvil_dropTransaction', [attempt.hash])
    await requestCancellation(chain().database, chain().chainId, hash, 'operator')
    await chain().round()
    await chain().setAutomine(true)
    await chain().mine()
    await chain().settle()
    expect(await chain().stateOf(hash)).toBe('dropped')
    const next = await admitted()
    await chain().settle()
    expect(await chain().stateOf(next)).toBe('included')
  })
})
