import { type Address, parseEther, parseGwei } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { detectChainRules } from '../../src/chain/chainRules.js'
import { comingBlockOverride } from '../../src/chain/comingBlock.js'
import { startHeadFollower } from '../../src/chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { getBlock, getLogs, getLogsOfBlocks } from '../../src/chain/nodeReads.js'
import { checkChain } from '../../src/cli/check/parts/checkChain.js'
import { checkNodes } from '../../src/cli/check/parts/checkNodes.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { createRandom } from '../evm/random.js'
import { alerts, openChainEngine } from '../support/chain/openChainEngine.js'
import { admitEstimated, payers } from '../support/chain/payingOperations.js'
import type { Anvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'
import { type NodeKind, nodeKind } from '../support/nodes/nodeKind.js'
import { until } from '../support/until.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/* What Purser asks of a node, asked of nodes that are not anvil; `npm run test:nodes` asks geth too. */

const kinds: readonly NodeKind[] = nodeKind() === 'anvil' ? ['hardhat'] : [nodeKind()]
const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }

/** What each client is known to lack; see docs/operate/nodes.md. */
const tracerOf: Readonly<Record<NodeKind, 'native' | 'script' | undefined>> = {
  anvil: 'script',
  hardhat: undefined,
  'hardhat-op': undefined,
  geth: 'native',
  amsterdam: 'native',
  bogota: 'native',
}

describe.each(kinds)('on %s', (kind) => {
  const bundling = useWorld({
    definition: { rules: 'full', dataFee: kind === 'hardhat-op' ? 'opStack' : 'none' },
    kind,
  })
  let started: Anvil
  let node: NodeClient
  const tanks = new Map<Version, Address>()

  beforeAll(async () => {
    started = bundling().anvil
    node = bundling().context.node
    for (const version of VERSIONS)
      tanks.set(
        version,
        await bundling()
          .at(version)
          .createTank(0, { wei: parseEther('50') }),
      )
  })

  const balance = () => bundling().balanceOf(bundling().executors[0]!.address)
  const bundlesOf = () =>
    bundling()
      .database.selectFrom('bundles')
      .select(['state', 'cost', 'transaction_hash'])
      .where('chain_id', '=', BigInt(bundling().chainId))
      .orderBy('id')
      .execute()

  test('its fork and its floor price of calldata are found, and it pretends blocks where it can', async () => {
    const { hash } = await node.head()
    const rules = await detectChainRules(node, hash)
    expect(rules?.fork).toBe(kind === 'hardhat-op' ? 'prague' : 'osaka')
    expect(rules?.calldataFloor).toBe(true)
    expect(rules?.readsByHash).toBe(true)
    const pretended = await comingBlockOverride(node, await node.head())
    expect(pretended !== undefined).toBe(kind === 'geth')
  })

  test.each(VERSIONS)('our EVM agrees with it about EntryPoint v%s', async (version) => {
    const chain = bundling().at(version)
    const { engine, logged, ran, close } = await openChainEngine(started.nodeUrl, chain)
    try {
      const seed = `engines ${version}`
      const op = await chain.sign(await chain.draft('counterfactual', seed), seed)
      await chain.fund(op.sender)
      await until(async () => (await engine.validate(chain.entryPoint, op)).ok)
      expect(new Set(ran)).toEqual(new Set(['inProcess']))
      expect(alerts(logged)).toEqual([])
      expect(logged.map(({ msg }) => msg)).toContain('our EVM agrees with the node')
    } finally {
      await close()
    }
  })

  test('it traces validations as its client does', async () => {
    const looked = await checkChain(node, bundling().definition)
    const tracer = tracerOf[kind]
    const text =
      tracer === undefined
        ? expect.stringContaining('the node traces no calls')
        : `the node traces validations (${tracer} tracer)`
    expect(looked.findings.map((finding) => finding.text)).toContainEqual(text)
    expect(looked.findings.filter(({ level }) => level === 'fault')).toEqual([])
  })

  test('purser check finds a node that it can use', async () => {
    const { findings, usable } = await checkNodes(bundling().definition, silent)
    expect(findings.filter(({ level }) => level === 'fault')).toEqual([])
    expect(usable).toEqual(bundling().definition.rpcUrls)
  })

  describe.each(VERSIONS)('operations of EntryPoint v%s', (version) => {
    test('are estimated, admitted, bundled and booked to the wei, in every mode', async () => {
      const random = createRandom(version.charCodeAt(2))
      const tank = tanks.get(version)!
      const before = await balance()
      const known = (await bundlesOf()).length
      let earned = 0n
      for (const payer of payers) {
        const choice = { random, version, payer, tank, fees }
        const { hash } = await admitEstimated(bundling().database, bundling(), choice)
        await bundling().round()
        await bundling().settle()
        expect((await bundling().stored(hash)).state).toBe('included')
        const receipt = await bundling().receipt(hash)
        expect(receipt.success).toBe(true)
        earned += receipt.actualGasCost
      }
      const bundles = (await bundlesOf()).slice(known)
      expect(bundles.map(({ state }) => state)).toEqual(payers.map(() => 'included'))
      const spent = bundles.reduce((sum, { cost }) => sum + cost!, 0n)
      expect(await balance()).toBe(before + earned - spent)
    })
  })

  /** An operation by which a plain key becomes an account, estimated, paid by itself and admitted. */
  const admitDelegated = async (version: '0.8' | '0.9') => {
    const chain = bundling().at(version)
    const seed = `delegated ${version}`
    const drafted = { ...(await chain.draft('delegated', seed)), ...fees }
    await chain.fund(drafted.sender)
    const gas = await bundling().estimate(chain.entryPoint, drafted)
    const { callGasLimit, verificationGasLimit, preVerificationGas } = gas
    const limits = { callGasLimit, verificationGasLimit, preVerificationGas }
    const signed = await chain.sign({ ...drafted, ...limits }, seed)
    return { sender: drafted.sender, hash: await bundling().admit(signed, chain.entryPoint) }
  }

  test.runIf(kind !== 'hardhat-op').each(['0.8', '0.9'] as const)(
    'a key is delegated (EIP-7702) by v%s',
    async (version) => {
      const { sender, hash } = await admitDelegated(version)
      await bundling().settle()
      expect((await bundling().receipt(hash)).success).toBe(true)
      expect((await bundling().tester.getCode({ address: sender }))?.slice(0, 8)).toBe('0xef0100')
    },
  )

  test.runIf(kind === 'hardhat-op')(
    'an operation with an authorization, which it does not know, is dropped and holds nobody up',
    async () => {
      const { hash } = await admitDelegated('0.8')
      const choice = { random: createRandom(8), version: '0.8', payer: 'tank', fees } as const
      const tank = tanks.get('0.8')!
      const plain = await admitEstimated(bundling().database, bundling(), { ...choice, tank })
      const before = await balance()
      await until(async () => {
        await bundling().round()
        const ended = await Promise.all([hash, plain.hash].map((each) => bundling().stored(each)))
        return ended.every(({ state }) => state === 'dropped' || state === 'included')
      })
      expect((await bundling().stored(hash)).state).toBe('dropped')
      const { success, actualGasCost } = await bundling().receipt(plain.hash)
      expect(success).toBe(true)
      const carried = (await bundlesOf()).filter(({ state }) => state === 'included').at(-1)!
      // What the chain refused has cost nobody anything.
      expect(await balance()).toBe(before + actualGasCost - carried.cost!)
    },
  )

  test('an operation whose block it drops waits again and is included anew', async () => {
    const { tester } = bundling()
    const random = createRandom(9)
    const tank = tanks.get('0.7')!
    const choice = { random, version: '0.7', payer: 'tank', tank, fees } as const
    const { hash } = await admitEstimated(bundling().database, bundling(), choice)
    const id = await tester.snapshot()
    await bundling().settle()
    const first = await bundling().receipt(hash)
    await tester.revert({ id })
    // A branch that grew beyond the one that is gone.
    await tester.mine({ blocks: 3 })
    await bundling().round()
    expect((await bundling().stored(hash)).state).not.toBe('included')
    await bundling().settle()
    const again = await bundling().receipt(hash)
    expect(again.success).toBe(true)
    expect(again.receipt.blockHash).not.toBe(first.receipt.blockHash)
  })

  test('it reads logs by ranges and by block, and refuses those of a block it does not have', async () => {
    const head = await node.head()
    const address = bundling().at('0.7').entryPoint.address
    const filter = { address, topics: [] } as const
    const range = await getLogs(node, { ...filter, fromBlock: 0n, toBlock: head.number })
    expect(range.length).toBeGreaterThan(0)
    const hashes = [...new Set(range.map(({ blockHash }) => blockHash))]
    const single = await getLogsOfBlocks(node, filter, hashes)
    expect(single).toEqual(range)
    const unknown = `0x${'12'.repeat(32)}` as const
    await expect(getLogsOfBlocks(node, filter, [unknown])).rejects.toThrow()
  })

  test('a block that it announces is heard without polling', async () => {
    const own = createNodeClient({ urls: [started.nodeUrl], logger: silent })
    const definition = { chainId: bundling().chainId, pollInterval: 1_000_000_000 }
    const settings = { node: own, definition, logger: silent, headsUrl: started.wsUrl }
    const heads = await startHeadFollower(settings)
    try {
      const before = heads.current().number
      await until(async () => {
        await bundling().tester.mine({ blocks: 1 })
        return heads.current().number > before
      })
      const mined = (await own.head()).number
      await until(async () => heads.current().number === mined)
      expect((await getBlock(own, mined))?.hash).toBe(heads.current().hash)
    } finally {
      heads.stop()
      await own.close()
    }
  })
})
