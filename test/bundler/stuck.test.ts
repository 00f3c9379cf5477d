import { numberToHex, parseGwei, parseTransaction } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import { createProblemLog } from '../../src/base/problemLog.js'
import { paysForItself } from '../../src/bundler/fees/assessBundle.js'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { followChain } from '../../src/bundler/send/followChain.js'
import { bundleCost } from '../../src/gas/preVerificationGas.js'
import { useDatabase } from '../support/database/database.js'
import { until } from '../support/until.js'
import { openWorld, type World } from '../support/world/openWorld.js'

const postgres = useDatabase()
function database() {
  return postgres().database
}

describe('a bundle that the chain does not include', () => {
  let chain: World

  afterEach(async () => {
    await chain.stop()
  })

  const start = async (resubmitAfter: number): Promise<void> => {
    chain = await openWorld(database(), { definition: { resubmitAfter } })
  }

  const attempts = async () =>
    (await openBundles(database(), chain.definition.chainId)).flatMap((bundle) => bundle.attempts)

  const stopMining = () => chain.anvil.request('evm_setAutomine', [false])

  test('is replaced by the same bundle with both fees 12.5 % higher, and included once', async () => {
    await start(1)
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    await stopMining()
    await until(async () => {
      await chain.round()
      return (await attempts()).length === 2
    })
    const raws = await Promise.all((await attempts()).map(chain.signedBytes))
    const [first, second] = raws.map((raw) => parseTransaction(raw))
    for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const)
      expect(second![fee]! * 8n).toBeGreaterThanOrEqual(first![fee]! * 9n)
    const { data, nonce, to, gas } = first!
    expect(second).toMatchObject({ data, nonce, to, gas })
    expect(await chain.status(hash)).toMatchObject({
      state: 'SUBMITTED',
      transactionHash: (await attempts())[1]!.hash,
    })
    await chain.anvil.request('evm_mine', [])
    await chain.round()
    expect((await chain.receipt(hash)).success).toBe(true)
    expect(await attempts()).toEqual([])
  })

  test('is not replaced before its time, however many rounds there are', async () => {
    await start(3_600_000)
    await chain.admit(chain.operation(await chain.createAccount()))
    await stopMining()
    for (let i = 0; i < 5; i++) await chain.round()
    expect(await attempts()).toHaveLength(1)
  })

  test('never pays more than its operations pay, at no base fee', async () => {
    await start(1)
    const op = chain.operation(await chain.createAccount())
    await chain.admit(op)
    await stopMining()
    for (let i = 0; i < 12; i++) await chain.round()
    const all = await attempts()
    expect(all.length).toBeGreaterThan(1)
    const data = chain.entryPoint.encodeHandleOps([op], chain.executors[0]!.address)
    const cost = bundleCost(chain.entryPoint, [{ op, contextSize: 0 }], data, {
      hasBeneficiary: false,
    })
    const paying = [{ op, metered: 10_000n, executionCharge: 0n }]
    for (const fees of all) {
      expect(paysForItself({ entryPoint: chain.entryPoint, paying, cost }, fees)).toBe(true)
    }
  })

  test('is logged once when its fees cannot rise any more, however many rounds follow', async () => {
    await start(1)
    await chain.admit(chain.operation(await chain.createAccount()))
    await stopMining()
    await chain.round()
    const lines: string[] = []
    const log = (_: object, line: string) => void lines.push(line)
    const problems = createProblemLog({ info: log, warn: log, error: log } as never)
    const stuck = () => lines.filter((line) => line.includes('stuck'))
    for (let rounds = 0, after = 0; after < 5; rounds++) {
      expect(rounds).toBeLessThan(40)
      await followChain({ ...chain.context, problems }, await chain.heads.refresh())
      if (stuck().length > 0) after++
    }
    expect(stuck()).toEqual(['bundle is stuck at its highest fees'])
  })

  test('goes out again when the node has forgotten it', async () => {
    await start(3_600_000)
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    await stopMining()
    await chain.round()
    const transaction = (await attempts())[0]?.hash
    await chain.anvil.request('anvil_dropTransaction', [transaction])
    await chain.round()
    await chain.anvil.request('evm_mine', [])
    await chain.round()
    expect((await chain.receipt(hash)).receipt.transactionHash).toBe(transaction)
  })

  test('waits when the base fee has risen above it, and goes when it has fallen', async () => {
    await start(3_600_000)
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    await stopMining()
    await chain.round()
    await setBaseFee(parseGwei('50'))
    await chain.round()
    expect((await chain.stored(hash)).state).toBe('bundled')
    await setBaseFee(1n)
    await until(async () => {
      await chain.round()
      await chain.anvil.request('evm_mine', [])
      return (await chain.stored(hash)).state === 'included'
    })
    expect((await chain.receipt(hash)).success).toBe(true)
  })

  test('is raised when the base fee has risen before a node took it', async () => {
    await start(1)
    const fees = { maxFeePerGas: parseGwei('900'), maxPriorityFeePerGas: parseGwei('5') }
    const hash = await chain.admit(chain.operation(await chain.createAccount(), fees))
    await stopMining()
    await chain.round()
    const [first] = await attempts()
    await chain.anvil.request('anvil_dropTransaction', [first!.hash])
    await setBaseFee(parseGwei('100'))
    await chain.anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(parseGwei('100'))])
    for (let rounds = 0; rounds < 5; rounds++) await chain.round()
    await chain.anvil.request('evm_mine', [])
    await chain.round()
    expect(first!.maxFeePerGas).toBeLessThan(parseGwei('100'))
    expect(await chain.stateOf(hash)).toBe('included')
  })

  const setBaseFee = async (wei: bigint): Promise<void> => {
    await chain.anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(wei)])
    await chain.anvil.request('evm_mine', [])
  }
})
