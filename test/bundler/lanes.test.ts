import { type Hex, numberToHex, parseEther, parseGwei, parseTransaction } from 'viem'
import { sql } from 'kysely'
import { afterEach, describe, expect, test } from 'vitest'
import { executorStatus } from '../../src/bundler/executorStatus.js'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { abandonBundle } from '../../src/bundler/outbox/outbox.js'
import { followChain } from '../../src/bundler/send/followChain.js'
import { sendBundles } from '../../src/bundler/send/sendBundles.js'
import { startBundler } from '../../src/bundler/startBundler.js'
import { adviseFees } from '../../src/chain/fees.js'
import { startHeadFollower } from '../../src/chain/headFollower.js'
import type { ChainDefinition } from '../../src/chain/definition/chainDefinition.js'
import type { ExecutorTransaction } from '../../src/chain/signing/executorTransaction.js'
import { requestCancellation } from '../../src/mempool/pool/successors.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'
import { executorKeys, openWorld, type World } from '../support/world/openWorld.js'

const postgres = useDatabase()
function database() {
  return postgres().database
}

describe('an executor with several bundles in flight', () => {
  let chain: World

  afterEach(async () => {
    await chain.stop()
  })

  const start = async (changes: Partial<ChainDefinition> = {}): Promise<void> => {
    const definition = { maxBundlesPerExecutor: 3, ...changes }
    chain = await openWorld(database(), { definition })
    await chain.anvil.request('evm_setAutomine', [false])
  }

  const open = () => openBundles(database(), chain.definition.chainId)
  const admit = async (fields = {}) => chain.admit(chain.operation(await nextAccount(), fields))
  const mine = () => chain.anvil.request('evm_mine', [])

  /** Accounts are made by transactions, which need blocks that hold none of our bundles. */
  const accounts: Hex[] = []
  const nextAccount = async (): Promise<Hex> => accounts.pop() ?? (await chain.createAccount())
  const prepare = async (count: number): Promise<void> => {
    accounts.length = 0
    await chain.anvil.request('evm_setAutomine', [true])
    for (let i = 0; i < count; i++) accounts.push(await chain.createAccount())
    await chain.anvil.request('evm_setAutomine', [false])
  }

  /** `count` bundles with an operation each, none mined. */
  const fly = async (count: number): Promise<Hex[]> => {
    const hashes: Hex[] = []
    for (let i = 0; i < count; i++) {
      hashes.push(await admit())
      await chain.round()
    }
    expect(await open()).toHaveLength(count)
    return hashes
  }

  const states = (hashes: readonly Hex[]) =>
    Promise.all(hashes.map(async (hash) => (await chain.stored(hash)).state))

  /** Rounds and blocks until nothing is open. */
  const land = () =>
    until(async () => {
      await chain.round()
      await mine()
      return (await open()).length === 0
    })

  test('signs successive nonces up to its limit, and one block includes them all', async () => {
    await start()
    await prepare(4)
    const hashes = await fly(3)
    const nonces = (await open()).map(({ nonce }) => nonce)
    expect(nonces).toEqual([nonces[0]!, nonces[0]! + 1n, nonces[0]! + 2n])
    const waits = await admit()
    await chain.round()
    expect(await states([...hashes, waits])).toEqual(['bundled', 'bundled', 'bundled', 'pooled'])
    await mine()
    await chain.round()
    expect(await states(hashes)).toEqual(['included', 'included', 'included'])
    const blocks = await Promise.all(
      hashes.map(async (hash) => (await chain.receipt(hash)).receipt.blockNumber),
    )
    expect(new Set(blocks).size).toBe(1)
    await land()
    expect(await states([waits])).toEqual(['included'])
  })

  test('sends one bundle more at a head; what comes in meanwhile shares the next', async () => {
    await start()
    await prepare(3)
    const [executor] = chain.executors
    const hashes = [await admit()]
    const signTransaction = async (transaction: ExecutorTransaction): Promise<Hex> => {
      if (hashes.length < 3) hashes.push(await admit(), await admit())
      return executor!.signTransaction(transaction)
    }
    const context = { ...chain.context, signers: [{ ...executor!, signTransaction }] }
    const round = async () => {
      const followed = (await followChain(context, await chain.heads.refresh()))!
      await sendBundles(context, followed, { turn: 0, freshHead: true })
    }
    await round()
    expect(await states(hashes)).toEqual(['bundled', 'pooled', 'pooled'])
    await round()
    expect((await open()).map(({ operationCount }) => operationCount)).toEqual([1, 2])
    await land()
    expect(await states(hashes)).toEqual(['included', 'included', 'included'])
  })

  test('lets what comes while a bundle is in flight share the next, for a quarter of a second', async () => {
    await start({ executorKeys, pollInterval: 20 })
    await prepare(2)
    // A second for each block, and so many that their interval is measured again.
    await chain.anvil.request('anvil_mine', [numberToHex(1_000), numberToHex(1)])
    // Each step of an index that catches up is followed by a round without a pause.
    await until(async () => {
      const { number } = await chain.heads.refresh()
      await chain.round()
      const { rows } = await sql<{ last: bigint | null }>`select max(number) as last
        from chain_blocks where chain_id = ${chain.definition.chainId}`.execute(database())
      return rows[0]?.last === number
    })
    const { node, definition } = chain.context
    const heads = await startHeadFollower({ node, definition, logger: silent })
    const bundler = startBundler(chain.context, heads)
    const send = async () => {
      const hash = await admit()
      bundler.wake()
      await until(async () => (await chain.stored(hash)).state === 'bundled')
    }
    try {
      await send()
      await send()
    } finally {
      await bundler.stop()
      heads.stop()
    }
    const [first, second] = await open()
    expect(first!.executor).not.toBe(second!.executor)
    expect(first!.attempts[0].age - second!.attempts[0].age).toBeGreaterThan(240)
    await land()
  })

  test('never has two operations of one account in bundles that are sent together', async () => {
    await start({ executorKeys })
    await prepare(1)
    const sender = await nextAccount()
    const hashes: Hex[] = []
    for (const nonce of [0n, 1n << 64n])
      hashes.push(await chain.admit(chain.operation(sender, { nonce, callGasLimit: 400_000n })))
    await chain.roundAs({ maxBundleGas: 700_000n })
    expect((await states(hashes)).toSorted()).toEqual(['bundled', 'pooled'])
    await land()
    expect(await states(hashes)).toEqual(['included', 'included'])
  })

  test('sends as many as it may at one head where operations do not fit into one', async () => {
    await start()
    await prepare(4)
    const hashes: Hex[] = []
    while (hashes.length < 4) hashes.push(await admit({ callGasLimit: 300_000n }))
    await chain.roundAs({ maxBundleGas: 700_000n })
    expect((await open()).map(({ operationCount }) => operationCount)).toEqual([1, 1, 1])
    expect((await states(hashes)).filter((state) => state === 'pooled')).toHaveLength(1)
    await land()
  })

  test('sends what pays less behind what pays more, at the same head', async () => {
    await start()
    await prepare(2)
    const { standard } = await adviseFees(chain.chain.node, await chain.heads.refresh(), {})
    const { maxFeePerGas } = standard
    const usual = standard.maxPriorityFeePerGas
    const more = await admit({ maxFeePerGas: maxFeePerGas * 4n, maxPriorityFeePerGas: usual * 2n })
    const less = await admit({ maxFeePerGas, maxPriorityFeePerGas: (usual * 3n) / 5n })
    await chain.round()
    expect(await states([more, less])).toEqual(['bundled', 'bundled'])
    expect((await open()).map(({ operationCount }) => operationCount)).toEqual([1, 1])
    await land()
  })

  test('takes operations with the advised fees along with one that pays more, whatever the base fee', async () => {
    await start()
    await prepare(4)
    for (const baseFee of ['0x7', '0x3b9aca00']) {
      await chain.anvil.request('anvil_setNextBlockBaseFeePerGas', [baseFee])
      await mine()
      const { fast, ...advice } = await adviseFees(
        chain.chain.node,
        await chain.heads.refresh(),
        {},
      )
      const { maxFeePerGas, maxPriorityFeePerGas } = fast
      const more = {
        maxFeePerGas: maxFeePerGas * 4n,
        maxPriorityFeePerGas: maxPriorityFeePerGas * 2n,
      }
      const hashes = [await admit(more), await admit(advice.standard)]
      await chain.round()
      expect(await states(hashes)).toEqual(['bundled', 'bundled'])
      expect((await open()).map(({ operationCount }) => operationCount)).toEqual([2])
      await land()
    }
  })

  test('never has two operations of one account in flight', async () => {
    await start({ executorKeys })
    await prepare(1)
    const sender = await nextAccount()
    const hashes: Hex[] = []
    for (const nonce of [0n, 1n, 1n << 64n]) {
      hashes.push(await chain.admit(chain.operation(sender, { nonce })))
      await chain.round()
    }
    expect((await states(hashes)).filter((state) => state === 'bundled')).toHaveLength(1)
    await until(async () => {
      await chain.round()
      await mine()
      return (await states(hashes)).every((state) => state === 'included')
    })
  })

  test('puts a new bundle in the place of one that fell out of the middle', async () => {
    await start()
    await prepare(4)
    const hashes = await fly(3)
    const [, middle] = await open()
    await loseMiddle(middle!.id, middle!.attempts[0].hash)
    const late = await admit()
    await chain.round()
    const now = await open()
    expect(now.map(({ nonce }) => nonce)).toContain(middle!.nonce)
    await land()
    expect(await states([...hashes, late])).toEqual(hashes.concat(late).map(() => 'included'))
  })

  test('fills a nonce that nothing else needs by a transaction that does nothing', async () => {
    await start()
    await prepare(3)
    const hashes = await fly(3)
    const [, middle] = await open()
    await loseMiddle(middle!.id, middle!.attempts[0].hash)
    await requestCancellation(database(), chain.definition.chainId, hashes[1]!, 'operator')
    await chain.round()
    const filler = (await open()).find(({ nonce }) => nonce === middle!.nonce)
    expect(filler).toMatchObject({ kind: 'filler', operationCount: 0 })
    const raw = await chain.signedBytes(filler!.attempts[0])
    expect(parseTransaction(raw).to?.toLowerCase()).toBe(filler!.executor)
    await land()
    expect(await states(hashes)).toEqual(['included', 'dropped', 'included'])
  })

  /** As if the node had refused the bundle for good, and a crash came then. */
  const loseMiddle = async (id: bigint, hash: Hex): Promise<void> => {
    await abandonBundle(database(), id)
    await chain.anvil.request('anvil_dropTransaction', [hash])
  }

  test('cancels what the operator wants back, and nothing else in the bundle suffers', async () => {
    await start()
    await prepare(4)
    const [before] = await fly(1)
    const together = [await admit(), await admit()]
    await chain.round()
    const [after] = [await admit()]
    await chain.round()
    const { chainId } = chain.definition
    expect(await requestCancellation(database(), chainId, together[0]!, 'operator')).toBe('bundled')
    await chain.round()
    const cancelled = (await open())[1]!
    expect(cancelled.attempts.map(({ noop }) => noop)).toEqual([false, true])
    expect(await states(together)).toEqual(['bundled', 'bundled'])
    await chain.round()
    expect((await open())[1]!.attempts).toHaveLength(2)
    await land()
    expect(await states([before!, ...together, after!])).toEqual([
      'included',
      'dropped',
      'included',
      'included',
    ])
    expect(await chain.stored(together[0]!)).toMatchObject({ reasonCode: 'CANCELLED' })
  })

  test('cancels a bundle whose operation somebody else includes, and sends the others again', async () => {
    await start()
    await prepare(2)
    const stolen = chain.operation(await nextAccount())
    const hashes = [await chain.admit(stolen), await admit()]
    await chain.round()
    const [{ attempts }] = (await open()) as [Awaited<ReturnType<typeof open>>[0]]
    await chain.anvil.request('anvil_dropTransaction', [attempts[0].hash])
    await chain.anvil.request('evm_setAutomine', [true])
    await chain.carry([stolen])
    await chain.anvil.request('evm_setAutomine', [false])
    await land()
    expect(await states(hashes)).toEqual(['included', 'included'])
    const { bundleId } = await chain.stored(hashes[0]!)
    expect(bundleId).toBeNull()
    const reverted = await database()
      .selectFrom('bundles')
      .select('id')
      .where('chain_id', '=', BigInt(chain.definition.chainId))
      .where('state', '=', 'reverted')
      .execute()
    expect(reverted).toEqual([])
  })

  test('raises the fees of one stuck bundle in a cycle, the first one first', async () => {
    await start({ resubmitAfter: 1 })
    await prepare(3)
    const hashes: Hex[] = []
    for (let i = 0; i < 3; i++) {
      hashes.push(
        await admit({ maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: parseGwei('9') }),
      )
      await chain.round()
    }
    expect(await open()).toHaveLength(3)
    let before = (await open()).map(({ attempts }) => attempts.length)
    for (let i = 0; i < 5; i++) {
      await chain.round()
      const now = (await open()).map(({ attempts }) => attempts.length)
      const raised = now.map((count, each) => count - (before[each] ?? count))
      expect(raised.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(1)
      before = now
    }
    expect(before[0]).toBeGreaterThan(1)
    await land()
    expect(await states(hashes)).toEqual(hashes.map(() => 'included'))
  })

  test('sends again after a crash whatever of its lanes was not sent', async () => {
    await start()
    await prepare(3)
    const hashes = await fly(3)
    for (const { attempts } of await open())
      await chain.anvil.request('anvil_dropTransaction', [attempts[0].hash])
    const sent = (await open()).map(({ attempts }) => attempts[0].hash)
    await land()
    const receipts = await Promise.all(hashes.map((hash) => chain.receipt(hash)))
    expect(receipts.map(({ receipt }) => receipt.transactionHash)).toEqual(sent)
  })

  test('is paused below its least balance, says so, and goes on when funded', async () => {
    await start({ executorMinBalance: parseEther('1') })
    const [{ address }] = chain.executors as [(typeof chain.executors)[0]]
    await prepare(1)
    await chain.anvil.request('anvil_setBalance', [address, numberToHex(parseEther('0.9'))])
    await mine()
    const hash = await admit()
    await chain.round()
    expect((await chain.stored(hash)).state).toBe('pooled')
    const status = async () => executorStatus(chain.context, chain.heads.current())
    expect(await status()).toEqual([
      expect.objectContaining({
        address,
        role: 'executor',
        state: 'paused',
        balance: parseEther('0.9'),
        inFlight: 0,
        alert: expect.stringContaining('fund it'),
      }),
    ])
    await chain.anvil.request('anvil_setBalance', [address, numberToHex(parseEther('2'))])
    await mine()
    await chain.round()
    expect(await status()).toMatchObject([{ state: 'busy', inFlight: 1, alert: undefined }])
    await land()
    expect(await status()).toMatchObject([{ state: 'ready', inFlight: 0 }])
  })

  test('sends what its money covers, where the best operation costs more', async () => {
    await start()
    await prepare(3)
    const [{ address }] = chain.executors as [(typeof chain.executors)[0]]
    const small = [await admit(), await admit()]
    await chain.anvil.request('anvil_setBalance', [address, numberToHex(parseEther('0.004'))])
    await mine()
    const tip = { maxPriorityFeePerGas: parseGwei('9'), maxFeePerGas: parseGwei('40') }
    const large = await admit({ ...tip, callGasLimit: 10_000_000n })
    await chain.round()
    expect(await states([large, ...small])).toEqual(['pooled', 'bundled', 'bundled'])
    await mine()
    await chain.round()
    expect(await states([large, ...small])).toEqual(['pooled', 'included', 'included'])
    await chain.anvil.request('anvil_setBalance', [address, numberToHex(parseEther('2'))])
    await land()
    expect(await states([large])).toEqual(['included'])
  })

  test('opens no lane that its money does not cover', async () => {
    await start()
    await prepare(2)
    const [first] = [await admit()]
    await chain.round()
    const [{ executor, attempts }] = (await open()) as [Awaited<ReturnType<typeof open>>[0]]
    const covered = (attempts[0].maxCost * 3n) / 2n
    await chain.anvil.request('anvil_setBalance', [executor, numberToHex(covered)])
    const second = await admit()
    await chain.round()
    expect(await states([first, second])).toEqual(['bundled', 'pooled'])
  })
})
