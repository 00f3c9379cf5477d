import {
  type Address,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  parseEther,
  parseGwei,
} from 'viem'
import { describe, expect, test } from 'vitest'
import {
  AlreadyBundledError,
  ExecutionRevertedError,
  FeeTooLowError,
  MempoolFullError,
  OperationLimitError,
  PaymasterDepositError,
  PreVerificationGasTooLowError,
  ReplacementUnderpricedError,
  SignatureRejectedError,
  TimeRangeError,
  ValidationRejectedError,
} from '../../src/base/errors/operationErrors.js'
import { UnstakedEntityFullError } from '../../src/base/errors/ruleErrors.js'
import { noMetrics } from '../../src/base/metrics/metrics.js'
import { listen } from '../../src/db/notifications.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { createBundleSizes } from '../../src/mempool/bundleSizes.js'
import { createMempool } from '../../src/mempool/createMempool.js'
import { minimumReplacement } from '../../src/mempool/decideAdmission.js'
import { announceOperations, OPERATIONS_CHANNEL } from '../../src/mempool/pool/operations.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'
import { openWorld, type World } from '../support/world/openWorld.js'
import { settableAccountAbi } from '../support/world/settableAccounts.js'
import { useFreshWorld } from '../support/world.js'

const postgres = useDatabase()
function database() {
  return postgres().database
}
const fail = encodeFunctionData({
  abi: settableAccountAbi,
  functionName: 'fail',
  args: ['no, thanks'],
})

const stakeAbi = parseAbi(['function addStake(uint32 unstakeDelaySec) payable'])

/** Stakes in the EntryPoint as the sender's owner would; the service has not looked yet. */
async function stake({ anvil, entryPoint }: World, sender: Address): Promise<void> {
  await anvil.request('anvil_impersonateAccount', [sender])
  await anvil.request('anvil_setBalance', [sender, numberToHex(parseEther('2'))])
  const data = encodeFunctionData({ abi: stakeAbi, functionName: 'addStake', args: [86_400] })
  const value = numberToHex(parseEther('1'))
  const receipt = await anvil.send({ from: sender, to: entryPoint.address, data, value })
  if (receipt.status !== '0x1') throw new Error('nothing was staked')
}

describe('admission', () => {
  const chain = useFreshWorld({ definition: { maxOperations: 6 } }, postgres)

  const live = async (): Promise<Hex[]> => {
    const rows = await database()
      .selectFrom('operations')
      .select('hash')
      .where('chain_id', '=', BigInt(chain().definition.chainId))
      .where('state', 'in', ['pooled', 'bundled'])
      .execute()
    return rows.map(({ hash }) => hash)
  }

  /** The operation with both fees in percent of what they were. */
  const repriced = (op: Operation, percent: bigint): Operation => ({
    ...op,
    maxFeePerGas: (op.maxFeePerGas * percent) / 100n,
    maxPriorityFeePerGas: (op.maxPriorityFeePerGas * percent) / 100n,
  })

  test('stores an operation before it answers with its hash', async () => {
    const op = chain().operation(await chain().createAccount())
    const hash = await chain().admit(op)
    expect(hash).toBe(chain().entryPoint.hash(op, chain().definition.chainId))
    expect(await chain().stored(hash)).toMatchObject({
      state: 'pooled',
      operation: op,
      attempts: 0,
    })
  })

  test('answers a known operation with the same hash, pending or included, and asks nothing', async () => {
    const sender = await chain().createAccount()
    const op = chain().operation(sender)
    const hash = await chain().admit(op)
    await chain().configure(sender, { refuses: true })
    expect(await chain().admit(op)).toBe(hash)
    await chain().configure(sender, {})
    await chain().settle()
    expect(await chain().admit(op)).toBe(hash)
    expect((await chain().stored(hash)).state).toBe('included')
  })

  test('takes a dropped operation anew', async () => {
    const sender = await chain().createAccount()
    const op = chain().operation(sender)
    const hash = await chain().admit(op)
    await chain().configure(sender, { refuses: true })
    await chain().round()
    expect((await chain().stored(hash)).state).toBe('dropped')
    await chain().configure(sender, {})
    expect(await chain().admit(op)).toBe(hash)
    expect(await chain().stored(hash)).toMatchObject({ state: 'pooled', reason: null })
    await chain().settle()
    expect((await chain().stored(hash)).state).toBe('included')
  })

  test('replaces an operation for 10 % more on both fees and for nothing less', async () => {
    const op = chain().operation(await chain().createAccount())
    const first = await chain().admit(op)
    const tooLittle = { ...repriced(op, 110n), maxPriorityFeePerGas: op.maxPriorityFeePerGas }
    await expect(chain().admit(tooLittle)).rejects.toBeInstanceOf(ReplacementUnderpricedError)
    const second = await chain().admit(repriced(op, 110n))
    expect(await chain().stored(first)).toMatchObject({
      state: 'replaced',
      reason: expect.stringContaining(second),
    })
    expect(await live()).toEqual([second])
    await chain().settle()
    expect((await chain().stored(second)).state).toBe('included')
  })

  test('does not replace an operation in a signed bundle', async () => {
    const op = chain().operation(await chain().createAccount())
    await chain().setAutomine(false)
    await chain().admit(op)
    await chain().round()
    await expect(chain().admit(repriced(op, 200n))).rejects.toBeInstanceOf(AlreadyBundledError)
  })

  test('leaves one of many operations that come for one nonce at the same time', async () => {
    const op = chain().operation(await chain().createAccount())
    const rivals = Array.from({ length: 12 }, (_, i) => repriced(op, 100n + BigInt(i * 15)))
    const results = await Promise.allSettled(rivals.map((op) => chain().admit(op)))
    const [winner, ...others] = await live()
    expect(others).toEqual([])
    const { maxFeePerGas } = minimumReplacement((await chain().stored(winner!)).operation)
    for (const [i, result] of results.entries()) {
      if (result.status === 'fulfilled') continue
      expect(result.reason).toBeInstanceOf(ReplacementUnderpricedError)
      expect(rivals[i]!.maxFeePerGas).toBeLessThan(maxFeePerGas)
    }
  })

  test('gives the same operation sent many times at once one row and one hash', async () => {
    const op = chain().operation(await chain().createAccount())
    const hashes = await Promise.all(Array.from({ length: 10 }, () => chain().admit(op)))
    expect(await live()).toEqual([...new Set(hashes)])
  })

  test('limits the pending operations of a sender exactly, also when they come at once', async () => {
    const sender = await chain().createAccount()
    const ops = [0n, 1n, 2n, 3n, 4n, 5n].map((key) =>
      chain().operation(sender, { nonce: key << 64n }),
    )
    const results = await Promise.allSettled(ops.map((op) => chain().admit(op)))
    const refusals = results.flatMap((r) => (r.status === 'rejected' ? [r.reason] : []))
    expect(refusals).toHaveLength(2)
    for (const reason of refusals) {
      expect(reason).toBeInstanceOf(UnstakedEntityFullError)
      expect(reason).toMatchObject({ code: -32505, rule: 'UREP-010' })
    }
  })

  test('sees the stake of a sender in a block that comes while its operation is validated', async () => {
    const ruled = await openWorld(database(), {
      definition: { rules: 'full', maxOperationsPerSender: 1, minimumUnstakeDelay: 1 },
    })
    try {
      const { context, entryPoint, heads, appId } = ruled
      const sender = await ruled.createAccount()
      await ruled.admit(ruled.operation(sender))
      let comesNext = true
      const { engine } = ruled.chain
      const by: typeof engine.by = (requester) => ({
        ...engine.by(requester),
        measure: () => Promise.reject(new Error('admission measures nothing')),
        async validate(...operation) {
          const validated = await engine.by(requester).validate(...operation)
          if (comesNext) {
            comesNext = false
            await stake(ruled, sender)
            await heads.refresh()
          }
          return validated
        },
      })
      const sizes = createBundleSizes(postgres().database, ruled.definition)
      const mempool = createMempool({
        ...context,
        sizes,
        heads,
        engine: { ...engine, by },
        metrics: noMetrics,
        witnesses: { record: () => {} },
      })
      const second = ruled.operation(sender, { nonce: 1n << 64n })
      const options = { appId, requester: undefined, simulateExecution: false }
      expect(await mempool.admit(entryPoint, second, options)).toMatch(/^0x/)
      expect(comesNext).toBe(false)
    } finally {
      await ruled.stop()
    }
  })

  test('wakes the bundler of its own process, and where that does not bundle those of others', async () => {
    const { context, entryPoint, heads, appId, definition } = chain()
    const heard: string[] = []
    const { connection } = postgres()
    const listener = await listen(connection, OPERATIONS_CHANNEL, silent, (id) => heard.push(id))
    let leads = true
    let woken = 0
    const wakeBundler = () => {
      woken += 1
      return leads
    }
    const sizes = createBundleSizes(database(), definition)
    const witnesses = { record: () => {} }
    const parts = { ...context, sizes, heads, witnesses, metrics: noMetrics, wakeBundler }
    const { engine } = chain().chain
    const measure = () => Promise.reject(new Error('admission measures nothing'))
    const by: typeof engine.by = (requester) => ({ ...engine.by(requester), measure })
    const mempool = createMempool({ ...parts, engine: { ...engine, by } })
    const admitNext = async () => {
      const op = chain().operation(await chain().createAccount())
      await heads.refresh()
      await mempool.admit(entryPoint, op, { appId, requester: undefined, simulateExecution: false })
    }
    try {
      await admitNext()
      await until(async () => woken === 1)
      leads = false
      await admitNext()
      await until(async () => heard.length > 0)
      await announceOperations(database(), 7)
      await until(async () => heard.includes('7'))
      expect(heard).toEqual([String(definition.chainId), '7'])
    } finally {
      await listener.close()
    }
  })

  test('limits the pool as a whole, but lets replacements and better offers through', async () => {
    const ops: Operation[] = []
    for (let i = 0; i < 8; i++) ops.push(chain().operation(await chain().createAccount()))
    for (const op of ops.slice(0, 6)) await chain().admit(op)
    await expect(chain().admit(ops[6]!)).rejects.toBeInstanceOf(MempoolFullError)
    const replacing = await chain().admit(repriced(ops[0]!, 110n))
    expect(await live()).toHaveLength(6)

    const better = await chain().admit(repriced(ops[7]!, 200n))
    expect(await live()).toHaveLength(6)
    expect(await live()).toEqual(expect.arrayContaining([better, replacing]))
    const hashes = ops
      .slice(1, 6)
      .map((op) => chain().entryPoint.hash(op, chain().definition.chainId))
    const stored = await Promise.all(hashes.map(chain().stored))
    const [evicted, ...more] = stored.filter(({ state }) => state === 'dropped')
    expect(more).toEqual([])
    expect(evicted).toMatchObject({
      reasonCode: 'EVICTED',
      reason: expect.stringContaining(better),
    })
    expect(await chain().status(evicted!.hash)).toMatchObject({
      state: 'DROPPED_FROM_BUNDLER_MEMPOOL',
      message: expect.stringContaining('the pool was full'),
    })
  })

  test('asks a paymaster to cover all its pending operations, at once or one by one', async () => {
    const senders = [
      await chain().createAccount(),
      await chain().createAccount(),
      await chain().createAccount(),
    ]
    const prefund = chain().entryPoint.requiredPrefund(
      chain().operation(senders[0]!, { paymaster: senders[0]! }),
    )
    const paymaster = await chain().createAccount(prefund * 2n + prefund / 2n)
    const ops = senders.map((sender) => chain().operation(sender, { paymaster }))
    const results = await Promise.allSettled(ops.map((op) => chain().admit(op)))
    const refusals = results.flatMap((r) => (r.status === 'rejected' ? [r.reason] : []))
    expect(refusals).toHaveLength(1)
    expect(refusals[0]).toBeInstanceOf(PaymasterDepositError)
    expect(refusals[0]).toMatchObject({ code: -32508, data: { paymaster } })
    expect(refusals[0].message).toMatch(/^paymaster deposit too low: /)
  })

  test('a replacement needs only its own share of the deposit', async () => {
    const sender = await chain().createAccount()
    const op = chain().operation(sender, { paymaster: sender })
    const paymaster = await chain().createAccount(
      (chain().entryPoint.requiredPrefund(op) * 115n) / 100n,
    )
    await chain().admit({ ...op, paymaster })
    await chain().admit(repriced({ ...op, paymaster }, 110n))
    expect(await live()).toHaveLength(1)
  })

  const refused = (fields: Partial<Operation>) => async () =>
    chain().admit(chain().operation(await chain().createAccount(), fields))

  test.each([
    ['a wrong signature', { signature: '0x' }, SignatureRejectedError],
    ['no account', { sender: `0x${'12'.repeat(20)}` }, ValidationRejectedError],
    ['a nonce ahead of the account', { nonce: 5n }, ValidationRejectedError],
    ['too low a tip', { maxPriorityFeePerGas: 1n }, FeeTooLowError],
    ['too low a fee', { maxFeePerGas: 5n, maxPriorityFeePerGas: 5n }, FeeTooLowError],
    ['a tip above the fee', { maxPriorityFeePerGas: parseGwei('11') }, OperationLimitError],
    [
      'too little preVerificationGas',
      { preVerificationGas: 30_000n },
      PreVerificationGasTooLowError,
    ],
    ['too much verification gas', { verificationGasLimit: 5_000_001n }, OperationLimitError],
    ['too much gas for a bundle', { callGasLimit: 16_000_000n }, OperationLimitError],
    ['too many bytes for a bundle', { callData: `0x${'01'.repeat(100_000)}` }, OperationLimitError],
    ['too long a signature', { signature: `0x${'01'.repeat(8_193)}` }, OperationLimitError],
    ['data for no paymaster', { paymasterData: '0x01' }, OperationLimitError],
    ['data for no factory', { factoryData: '0x01' }, OperationLimitError],
  ] as const)('refuses %s and stores nothing', async (_name, fields, error) => {
    await expect(refused(fields)()).rejects.toBeInstanceOf(error)
    expect(await live()).toEqual([])
  })

  test('refuses an operation that is not valid yet or not for long', async () => {
    const paymaster = await chain().createAccount()
    const now = BigInt(Math.floor(Date.now() / 1000))
    for (const validationData of [(now + 600n) << 208n, (now + 20n) << 160n]) {
      await chain().configure(paymaster, { validationData })
      await expect(refused({ paymaster })()).rejects.toBeInstanceOf(TimeRangeError)
    }
  })

  test('runs the call only when asked to', async () => {
    const op = chain().operation(await chain().createAccount(), { callData: fail })
    const options = { appId: chain().appId, requester: undefined, simulateExecution: true }
    const error = await chain()
      .services.admit(chain().entryPoint, op, options)
      .catch((e) => e)
    expect(error).toBeInstanceOf(ExecutionRevertedError)
    expect(error.message).toContain('no, thanks')
    await chain().admit(op)
    expect(await live()).toHaveLength(1)
  })
})
