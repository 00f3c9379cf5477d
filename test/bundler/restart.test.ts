import { type Hex, numberToHex, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { assembleBundle } from '../../src/bundler/assemble/assembleBundle.js'
import { type OpenBundle, openBundles } from '../../src/bundler/outbox/bundles.js'
import { send } from '../../src/bundler/send/followBundles.js'
import { signBundle } from '../../src/bundler/send/sendBundles.js'
import { startBundler } from '../../src/bundler/startBundler.js'
import { startHeadFollower } from '../../src/chain/headFollower.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'
import { executorKeys, openWorld, type World } from '../support/world/openWorld.js'

const postgres = useDatabase()
function database() {
  return postgres().database
}

describe('a bundler that starts again', () => {
  let chain: World

  beforeEach(async () => {
    chain = await openWorld(database())
  })

  afterEach(async () => {
    await chain.stop()
  })

  /** The steps of a round up to the signature, where a crash may come. */
  const sign = async (): Promise<OpenBundle> => {
    const { context, executors, entryPoint, heads } = chain
    const executor = executors[0]!
    const head = await heads.refresh()
    const assembly = {
      head,
      executor: executor.address,
      entryPoint,
      waiting: new Set<never>(),
      open: [],
      funds: parseEther('1'),
    }
    const draft = await assembleBundle(context, assembly)
    if (typeof draft !== 'object') throw new Error('there was nothing to sign')
    const nonce = await chain.anvil.client.getTransactionCount({ address: executor.address })
    const bundle = await signBundle(context, executor, BigInt(nonce), draft, undefined)
    if (!bundle) throw new Error('there was nothing to sign')
    return bundle
  }

  const events = () =>
    chain.anvil.client
      .getLogs({ address: chain.entryPoint.address, fromBlock: 0n })
      .then((logs) => logs.filter(({ topics }) => topics[0]?.startsWith('0x49628fd1')))

  test('broadcasts a bundle that was signed but not sent, and includes it once', async () => {
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    const { attempts } = await sign()
    await chain.settle()
    expect((await chain.receipt(hash)).receipt.transactionHash).toBe(attempts[0].hash)
    expect(await events()).toHaveLength(1)
  })

  test('finds the receipt of a bundle that was sent just before', async () => {
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    const bundle = await sign()
    await send(chain.context, bundle)
    await chain.anvil.client.waitForTransactionReceipt({ hash: bundle.attempts[0].hash })
    await chain.round()
    expect((await chain.stored(hash)).state).toBe('included')
    expect(await events()).toHaveLength(1)
  })

  test('goes on with the bundles of every executor, in any number of restarts', async () => {
    const hashes: Hex[] = []
    for (let i = 0; i < 3; i++) {
      hashes.push(await chain.admit(chain.operation(await chain.createAccount())))
      await sign()
      await chain.round()
    }
    await chain.settle()
    for (const hash of hashes) expect((await chain.stored(hash)).state).toBe('included')
    expect(await events()).toHaveLength(3)
  })

  test('puts operations back when another transaction took the nonce', async () => {
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    const bundle = await sign()
    await spendNonce()
    await chain.round()
    expect(await openBundles(database(), chain.definition.chainId)).toHaveLength(1)
    await chain.settle()
    const { receipt } = await chain.receipt(hash)
    expect(receipt.transactionHash).not.toBe(bundle.attempts[0].hash)
    expect(await events()).toHaveLength(1)
  })

  test('is not stopped by a nonce that the chain lacks', async () => {
    await chain.stop()
    chain = await openWorld(database(), { definition: { resubmitAfter: 1 } })
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    await chain.anvil.request('anvil_setNonce', [chain.executors[0]!.address, numberToHex(7)])
    await sign()
    await chain.anvil.request('anvil_setNonce', [chain.executors[0]!.address, numberToHex(3)])
    await chain.anvil.request('evm_mine', [])
    await until(async () => {
      await chain.round()
      return (await chain.stored(hash)).state === 'included'
    })
    expect(await events()).toHaveLength(1)
  })

  test('follows heads and announcements by itself and stops on request', async () => {
    const definition = { ...chain.definition, pollInterval: 20 }
    const { node } = chain.context
    const heads = await startHeadFollower({ node, definition, logger: silent })
    const bundler = startBundler({ ...chain.context, definition }, heads)
    try {
      const hash = await chain.admit(chain.operation(await chain.createAccount()))
      bundler.wake()
      await until(async () => (await chain.stored(hash)).state === 'included')
    } finally {
      await bundler.stop()
      heads.stop()
    }
    const late = await chain.admit(chain.operation(await chain.createAccount()))
    bundler.wake()
    expect((await chain.stored(late)).state).toBe('pooled')
  })

  const spendNonce = async (): Promise<void> => {
    const account = privateKeyToAccount(executorKeys[0]!)
    const nonce = await chain.anvil.client.getTransactionCount({ address: account.address })
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: chain.definition.chainId,
      nonce,
      to: account.address,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
    })
    const hash = await chain.anvil.client.sendRawTransaction({ serializedTransaction: raw })
    await chain.anvil.client.waitForTransactionReceipt({ hash })
  }
})
