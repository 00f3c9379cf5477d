import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FeeTooLowError } from '../../src/base/errors/operationErrors.js'
import { adviseFees, mostBid, requireFees } from '../../src/chain/fees.js'
import type { NodeExchange } from '../../src/chain/node/nodePool.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { getBlock } from '../../src/chain/nodeReads.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { startNodeWithout } from '../support/chain/httpNode.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'

const gwei = 1_000_000_000n
const cleanups: (() => Promise<void>)[] = []
const from = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function client(url: string, asked: (method: string) => void = () => {}): NodeClient {
  const onExchange = ({ methods }: NodeExchange) => methods.forEach(asked)
  const created = createNodeClient({ urls: [url], logger: silent, onExchange })
  cleanups.push(created.close)
  return created
}

/** A chain on which a transfer fills a seventh of a block: its tip is no exception. */
const busy = ['--gas-limit', '150000']

async function chain(args: readonly string[] = []) {
  const anvil = await startAnvil(args)
  cleanups.push(anvil.stop)
  return { url: anvil.url, node: client(anvil.url) }
}

async function pay(node: NodeClient, tip: bigint): Promise<void> {
  const fees = {
    maxFeePerGas: `0x${(10n * gwei + tip).toString(16)}`,
    maxPriorityFeePerGas: `0x${tip.toString(16)}`,
  }
  await node.request('eth_sendTransaction', [{ from, to: from, gas: '0x5208', ...fees }])
  await node.request('evm_mine', [])
}

async function head(node: NodeClient) {
  const latest = await getBlock(node, 'latest')
  if (latest === undefined) throw new Error('no head')
  return latest
}

describe('adviseFees', () => {
  test('the tips that were paid are advised, over the base fee with headroom', async () => {
    const { node } = await chain(busy)
    for (const tip of [1n, 2n, 3n, 4n, 5n]) await pay(node, tip * gwei)
    const latest = await head(node)
    const { slow, standard, fast } = await adviseFees(node, latest, {})
    expect(standard.maxPriorityFeePerGas).toBe(3n * gwei)
    expect(slow.maxPriorityFeePerGas).toBeLessThanOrEqual(standard.maxPriorityFeePerGas)
    expect(fast.maxPriorityFeePerGas).toBeGreaterThanOrEqual(standard.maxPriorityFeePerGas)
    expect(slow.maxFeePerGas).toBeLessThan(standard.maxFeePerGas)
    expect(standard.maxFeePerGas).toBeLessThanOrEqual(fast.maxFeePerGas)
    // Empty blocks lower the base fee by at most an eighth a block.
    expect(standard.maxFeePerGas).toBeGreaterThan((latest.baseFee * 13n) / 10n + 3n * gwei)
  })

  test('one overpaying transaction a block is no price: on a quiet chain the lowest tip is', async () => {
    const { node } = await chain()
    const before = await adviseFees(node, await head(node), {})
    for (let i = 0; i < 12; i++) {
      await pay(node, 100n * gwei)
      const { fast } = await adviseFees(node, await head(node), {})
      expect(fast.maxPriorityFeePerGas).toBe(before.fast.maxPriorityFeePerGas)
    }
  })

  test('blocks whose tips a node leaves out count as empty ones', async () => {
    const { url, node: real } = await chain(busy)
    for (let i = 0; i < 3; i++) await pay(real, 3n * gwei)
    const front = await startChangedNode(url, (method, _, answer) => {
      if (method !== 'eth_feeHistory') return answer
      const { reward, ...history } = answer.result as { reward: (string[] | null)[] }
      const second = reward[1] ?? []
      return {
        ...answer,
        result: { ...history, reward: [null, [...second.slice(1), null], ...reward.slice(2)] },
      }
    })
    cleanups.push(front.stop)
    const node = client(front.url)
    const { standard } = await adviseFees(node, await head(node), {})
    expect(standard.maxPriorityFeePerGas).toBe(3n * gwei)
  })

  test('what was advised recently may be offered when fees have fallen, for ten blocks', async () => {
    const { node } = await chain([...busy, '--no-mining'])
    for (let i = 0; i < 5; i++) await pay(node, 5n * gwei)
    const { fast: expensive } = await adviseFees(node, await head(node), {})
    for (let i = 0; i < 9; i++) await pay(node, gwei)
    const { fast: cheap } = await adviseFees(node, await head(node), {})
    expect(cheap.maxPriorityFeePerGas).toBeLessThan(expensive.maxPriorityFeePerGas / 2n)
    expect(cheap.maxFeePerGas).toBeLessThan(expensive.maxFeePerGas)
    const most = mostBid(node, cheap)
    expect(most.maxFeePerGas).toBe(expensive.maxFeePerGas * 2n)
    expect(most.maxPriorityFeePerGas).toBeGreaterThanOrEqual(expensive.maxPriorityFeePerGas)
    await pay(node, gwei)
    const { fast: present } = await adviseFees(node, await head(node), {})
    const tip = mostBid(node, present).maxPriorityFeePerGas
    expect(tip).toBeGreaterThanOrEqual(cheap.maxPriorityFeePerGas)
    expect(tip).toBeLessThan(expensive.maxPriorityFeePerGas)
  })

  test.each([
    // A client that doubles what its node says passes; where others pay far more, the fast tip is the most.
    [gwei / 2n, 5n * gwei, 5n * gwei],
    [4n * gwei, 5n * gwei, 8n * gwei],
    [5n * gwei, 5n * gwei, 10n * gwei],
  ])(
    'a suggestion of %i where %i is paid lets a client offer %i',
    async (suggested, paid, most) => {
      const { url, node: busyNode } = await chain([...busy, '--no-mining'])
      for (let i = 0; i < 3; i++) await pay(busyNode, paid)
      const front = await startChangedNode(url, (method, _, answer) =>
        method === 'eth_maxPriorityFeePerGas'
          ? { ...answer, result: `0x${suggested.toString(16)}` }
          : answer,
      )
      cleanups.push(front.stop)
      const node = client(front.url)
      const { fast } = await adviseFees(node, await head(node), {})
      expect(fast.maxPriorityFeePerGas).toBe(paid)
      expect(mostBid(node, fast).maxPriorityFeePerGas).toBe(most)
    },
  )

  test('of a quiet block a percentile within its used part is a tip that was paid', async () => {
    const { url, node } = await chain()
    await pay(node, gwei)
    const half = await startChangedNode(url, (method, _, answer) =>
      method === 'eth_feeHistory'
        ? {
            ...answer,
            result: {
              ...(answer.result as object),
              gasUsedRatio: [0.03, 0],
              reward: [
                ['0x2540be400', '0x2540be400', '0x4a817c800'],
                ['0x0', '0x0', '0x0'],
              ],
            },
          }
        : answer,
    )
    cleanups.push(half.stop)
    const { slow, standard, fast } = await adviseFees(client(half.url), await head(node), {})
    const tips = [slow, standard, fast].map((fees) => fees.maxPriorityFeePerGas / gwei)
    // Two fifths of the twentieth count as paid with what the node suggests.
    expect(tips).toEqual([5n, 10n, 10n])
  })

  test('fast is at least what clients offer that ask a node', async () => {
    const { node } = await chain(busy)
    for (let i = 0; i < 3; i++) await pay(node, 0n)
    const suggested = BigInt(await node.request<string>('eth_maxPriorityFeePerGas', []))
    const { fast } = await adviseFees(node, await head(node), {})
    expect(suggested).toBeGreaterThan(0n)
    expect(fast.maxPriorityFeePerGas).toBe(suggested)
  })

  test('a network whose tip is zero gets zero, not a suggestion', async () => {
    const { node } = await chain()
    for (let i = 0; i < 3; i++) await pay(node, 0n)
    const { standard } = await adviseFees(node, await head(node), {})
    expect(standard.maxPriorityFeePerGas).toBe(0n)
    expect(standard.maxFeePerGas).toBeGreaterThan(0n)
  })

  test('an empty chain gets what the node suggests', async () => {
    const { node } = await chain()
    const suggested = BigInt(await node.request<string>('eth_maxPriorityFeePerGas', []))
    const { standard } = await adviseFees(node, await head(node), {})
    expect(standard.maxPriorityFeePerGas).toBe(suggested)
  })

  test('a node without eth_feeHistory is asked for its suggestion', async () => {
    // Without payments: anvil learns of them behind a block, so its suggestion would change meanwhile.
    const { url, node } = await chain()
    const suggested = BigInt(await node.request<string>('eth_maxPriorityFeePerGas', []))
    expect(suggested).toBeGreaterThan(0n)
    const old = await startNodeWithout(url, ['eth_feeHistory'])
    cleanups.push(old.stop)
    const latest = await head(node)
    const { standard } = await adviseFees(client(old.url), latest, {})
    expect(standard.maxPriorityFeePerGas).toBe(suggested)
    expect(standard.maxFeePerGas).toBe(((latest.baseFee + suggested) * 3n) / 2n)
  })

  test('a node that knows only eth_gasPrice is enough', async () => {
    const { url, node } = await chain()
    const older = await startNodeWithout(url, ['eth_feeHistory', 'eth_maxPriorityFeePerGas'])
    cleanups.push(older.stop)
    const price = BigInt(await node.request<string>('eth_gasPrice', []))
    const latest = await head(node)
    const { standard } = await adviseFees(client(older.url), latest, {})
    expect(standard.maxPriorityFeePerGas).toBe(price > latest.baseFee ? price - latest.baseFee : 0n)
  })

  test('of the tier slow is accepted at the base fee of now, however far apart the tips are', async () => {
    const { url, node } = await chain()
    await pay(node, gwei)
    const uneven = await startChangedNode(url, (method, _, answer) =>
      method === 'eth_feeHistory'
        ? {
            ...answer,
            result: {
              ...(answer.result as object),
              gasUsedRatio: [0.5],
              reward: [['0x1', '0x2540be400', '0x4a817c800']],
            },
          }
        : answer,
    )
    cleanups.push(uneven.stop)
    const latest = await head(node)
    const advice = await adviseFees(client(uneven.url), latest, {})
    expect(advice.slow.maxPriorityFeePerGas).toBe(5n * gwei)
    expect(() => requireFees(advice.slow, latest, advice)).not.toThrow()
  })

  test('is computed once per head', async () => {
    const { url, node } = await chain()
    const calls: string[] = []
    const counted = client(url, (method) => calls.push(method))
    const first = await head(node)
    const [a, b] = await Promise.all([
      adviseFees(counted, first, {}),
      adviseFees(counted, first, {}),
    ])
    expect(a).toBe(b)
    expect(calls.filter((method) => method === 'eth_feeHistory')).toHaveLength(1)
    await pay(node, gwei)
    const second = await head(node)
    await adviseFees(counted, second, {})
    expect(calls.filter((method) => method === 'eth_feeHistory')).toHaveLength(2)
    // A bundle that was begun at the older head asks for it at the same time as admissions that know the newer one.
    for (const each of [first, second]) await adviseFees(counted, each, {})
    expect(calls.filter((method) => method === 'eth_feeHistory')).toHaveLength(2)
  })
})

describe('requireFees', () => {
  const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
    maxFeePerGas,
    maxPriorityFeePerGas,
  })
  const advice = (max: bigint, tip: bigint) => {
    const same = fees(max, tip)
    return { slow: same, standard: same, fast: same, tipFloor: { perGas: 0n, perByte: 0n } }
  }

  test('half of the standard tip passes, a wei less does not', () => {
    const network = advice(32n * gwei, 2n * gwei)
    const head = { baseFee: 20n * gwei }
    expect(() => requireFees(fees(32n * gwei, gwei), head, network)).not.toThrow()
    expect(() => requireFees(fees(32n * gwei, gwei - 1n), head, network)).toThrow(
      new FeeTooLowError('maxPriorityFeePerGas', gwei - 1n, gwei),
    )
  })

  test('maxFeePerGas must cover the base fee and half the tip', () => {
    const network = advice(32n * gwei, 2n * gwei)
    const head = { baseFee: 20n * gwei }
    expect(() => requireFees(fees(21n * gwei, gwei), head, network)).not.toThrow()
    expect(() => requireFees(fees(21n * gwei - 1n, gwei), head, network)).toThrow(
      new FeeTooLowError('maxFeePerGas', 21n * gwei - 1n, 21n * gwei),
    )
  })

  test('a zero tip passes where the network has none', () => {
    const head = { baseFee: gwei }
    const network = advice((3n * gwei) / 2n, 0n)
    expect(() => requireFees(fees(gwei, 0n), head, network)).not.toThrow()
    expect(() => requireFees(fees(0n, 0n), { baseFee: 0n }, advice(0n, 0n))).not.toThrow()
  })
})

let anvil: Anvil
beforeAll(async () => {
  anvil = await startAnvil(['--block-base-fee-per-gas', '0'])
})
afterAll(() => anvil.stop())

test('what is advised is included, also where the base fee is zero', async () => {
  const node = client(anvil.url)
  const { slow } = await adviseFees(node, await head(node), {})
  const hash = await node.request('eth_sendTransaction', [
    {
      from,
      to: from,
      gas: '0x5208',
      maxFeePerGas: `0x${slow.maxFeePerGas.toString(16)}`,
      maxPriorityFeePerGas: `0x${slow.maxPriorityFeePerGas.toString(16)}`,
    },
  ])
  await node.request('evm_mine', [])
  expect(await node.request('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
})
