import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Abi, type Address, getContractAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutboundClient } from '../../../src/base/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../../src/base/outbound/networkGuard.js'
import type {
  PriceSourceDefinition,
  TokenDefinition,
} from '../../../src/chain/definition/tokenDefinition.js'
import { toUsdDefinition, usdPriceSchema } from '../../../src/chain/definition/tokenDefinition.js'
import { devWallet } from '../../../src/cli/devnet/devWallet.js'
import { createPrices } from '../../../src/paymaster/prices/createPrices.js'
import { createUsdPrice } from '../../../src/paymaster/prices/usdPrice.js'
import { ONE } from '../../../src/paymaster/prices/perNative.js'
import { compileSolidity } from '../../support/chain/compileSolidity.js'
import { useChain } from '../../support/chain/useChain.js'

/* Feeds are contracts on a real chain, the server is a real one on loopback. */

const { Feed } = compileSolidity(`
contract Feed {
  uint8 public decimals; int256 answer; uint256 startedAt; uint256 updatedAt; uint80 answered;
  constructor(uint8 places) { decimals = places; }
  function set(int256 a, uint256 s, uint256 u, uint80 r) external {
    (answer, startedAt, updatedAt, answered) = (a, s, u, r);
  }
  function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
    return (2, answer, startedAt, updatedAt, answered);
  }
}`)

const chain = useChain()
const now = 1_790_000_000
const tokenUsd = { decimals: 8, address: '0x' as Address }
const nativeUsd = { decimals: 8, address: '0x' as Address }
const tokenNative = { decimals: 18, address: '0x' as Address }
/** Feeds have decimals as tokens do, and that is all that is asked of the token. */
const coin = { decimals: 6, address: '0x' as Address }
const sequencer = { decimals: 0, address: '0x' as Address }
let server: Server
let url: URL
let answer = { status: 200, body: '' }
let asked = 0

const client = createOutboundClient(createNetworkGuard(loopback))

async function deploy(decimals: number): Promise<Address> {
  const wallet = await devWallet(chain().rpcUrl)
  const nonce = await wallet.getTransactionCount({ address: wallet.account.address })
  const hash = await wallet.deployContract({
    abi: Feed!.abi as Abi,
    bytecode: Feed!.bytecode,
    args: [decimals],
  })
  await wallet.waitForTransactionReceipt({ hash })
  return getContractAddress({ from: wallet.account.address, nonce: BigInt(nonce) })
}

async function set(
  { address }: { address: Address },
  answer: bigint,
  { startedAt = now - 5_000, updatedAt = now - 60, answeredIn = 2 } = {},
): Promise<void> {
  const wallet = await devWallet(chain().rpcUrl)
  const hash = await wallet.writeContract({
    abi: Feed!.abi as Abi,
    address,
    functionName: 'set',
    args: [answer, BigInt(startedAt), BigInt(updatedAt), answeredIn],
  })
  await wallet.waitForTransactionReceipt({ hash })
}

beforeAll(async () => {
  for (const feed of [tokenUsd, nativeUsd, tokenNative, sequencer, coin])
    feed.address = await deploy(feed.decimals)
  server = createServer((_, response) => {
    asked++
    response.writeHead(answer.status)
    response.end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/price`)
})

afterAll(() => {
  server?.close()
  client.close()
})

beforeEach(async () => {
  asked = 0
  answer = { status: 200, body: '{"price":"3000"}' }
  await set(tokenUsd, 100_000_000n)
  await set(nativeUsd, 300_000_000_000n)
  await set(tokenNative, ONE / 2_000n)
  await set(sequencer, 0n)
})

function feed({ address }: { address: Address }) {
  return {
    address,
    heartbeat: 3_600,
    min: undefined,
    max: undefined,
  }
}
function byFeeds(): PriceSourceDefinition {
  return {
    kind: 'feeds',
    token: feed(tokenUsd),
    native: feed(nativeUsd),
  }
}
function byHttp(): PriceSourceDefinition {
  return { kind: 'http', url, path: ['price'] }
}

function token(
  sources: readonly PriceSourceDefinition[],
  change: Partial<TokenDefinition> = {},
): TokenDefinition {
  return {
    address: coin.address,
    symbol: 'T',
    name: 'Test',
    decimals: 6,
    logoUrl: undefined,
    markup: 1_000_000,
    maxExposure: undefined,
    treasury: undefined,
    extraCallGas: 0n,
    minimumSources: 1,
    maxDeviation: 20_000,
    sources,
    ...change,
  }
}

function pricesAt(at: number, { maxAge = 0, withSequencer = false } = {}) {
  return createPrices({
    node: chain().node,
    client,
    maxAge,
    now: () => at,
    sequencer: withSequencer ? { address: sequencer.address, gracePeriod: 900 } : undefined,
  })
}

describe('prices', () => {
  test('two feeds in USD give token units per coin', async () => {
    expect(await pricesAt(now).rate(token([byFeeds()]))).toBe(3_000_000_000n)
  })

  test('one feed in native coins does so alone', async () => {
    const source = { kind: 'feeds', token: feed(tokenNative), native: undefined } as const
    expect(
      await pricesAt(now).rate(token([source], { address: tokenNative.address, decimals: 18 })),
    ).toBe(2_000n * ONE)
  })

  test('a server gives them too', async () => {
    expect(await pricesAt(now).rate(token([byHttp()]))).toBe(3_000_000_000n)
  })

  test('a feed beyond its heartbeat stops the quotes', async () => {
    await set(nativeUsd, 300_000_000_000n, { updatedAt: now - 3_601 })
    await expect(pricesAt(now).rate(token([byFeeds()]))).rejects.toThrow('3601 s old')
  })

  test('a round that was not answered stops them', async () => {
    await set(tokenUsd, 100_000_000n, { answeredIn: 1 })
    await expect(pricesAt(now).rate(token([byFeeds()]))).rejects.toThrow('round without answer')
  })

  test('an address without a feed stops them', async () => {
    const nowhere = { address: '0x00000000000000000000000000000000000000fe' } as const
    const source = { kind: 'feeds', token: feed(nowhere), native: undefined } as const
    await expect(pricesAt(now).rate(token([source]))).rejects.toThrow('no price feed')
  })

  test('feeds are not believed while the sequencer is down, nor right after', async () => {
    const prices = pricesAt(now, { withSequencer: true })
    expect(await prices.rate(token([byFeeds()]))).toBe(3_000_000_000n)
    await set(sequencer, 1n)
    await expect(prices.rate(token([byFeeds()]))).rejects.toThrow('sequencer is down')
    await set(sequencer, 0n, { startedAt: now - 899 })
    await expect(prices.rate(token([byFeeds()]))).rejects.toThrow('less than 900 s')
  })

  test('sources that disagree stop the quotes', async () => {
    answer = { status: 200, body: '{"price":"3060.1"}' }
    await expect(pricesAt(now).rate(token([byFeeds(), byHttp()]))).rejects.toThrow('disagree')
    answer = { status: 200, body: '{"price":"3060"}' }
    expect(await pricesAt(now).rate(token([byFeeds(), byHttp()]))).toBe(3_060_000_000n)
  })

  test('a server that fails leaves the others, unless all are needed', async () => {
    answer = { status: 500, body: '' }
    const sources = [byFeeds(), byHttp()]
    expect(await pricesAt(now).rate(token(sources))).toBe(3_000_000_000n)
    await expect(pricesAt(now).rate(token(sources, { minimumSources: 2 }))).rejects.toThrow(
      '1 of 2 price sources answer',
    )
  })

  test('a token with other decimals than configured has no price', async () => {
    const wrong = token([byFeeds()], { decimals: 18 })
    await expect(pricesAt(now).rate(wrong)).rejects.toThrow('has 6 decimals, 18 are configured')
    const absent = token([byFeeds()], { address: '0x00000000000000000000000000000000000000fe' })
    await expect(pricesAt(now).rate(absent)).rejects.toThrow('has no decimals')
  })

  test('an answer of any size is cut off', async () => {
    answer = { status: 200, body: `{"price":"3000","more":"${'x'.repeat(1_000_000)}"}` }
    await expect(pricesAt(now).rate(token([byHttp()]))).rejects.toThrow('0 of 1')
  })

  test('a private address that the operator did not open is not asked', async () => {
    const closed = createOutboundClient(createNetworkGuard([]))
    const { node } = chain()
    const parts = { node, client: closed, sequencer: undefined, maxAge: 0, now: () => now }
    await expect(createPrices(parts).rate(token([byHttp()]))).rejects.toThrow('must be https')
    expect(asked).toBe(0)
    closed.close()
  })

  test('a price is asked for once within its age, and again after a failure', async () => {
    const prices = pricesAt(now, { maxAge: 60 })
    answer = { status: 500, body: '' }
    await expect(prices.rate(token([byHttp()]))).rejects.toThrow()
    answer = { status: 200, body: '{"price":"3000"}' }
    expect(await prices.rate(token([byHttp()]))).toBe(3_000_000_000n)
    answer = { status: 200, body: '{"price":"1"}' }
    expect(await prices.rate(token([byHttp()]))).toBe(3_000_000_000n)
    expect(asked).toBe(2)
    expect(await pricesAt(now).rate(token([byHttp()]))).toBe(1_000_000n)
  })

  test('a look tells what each source said, how old it is, and why it does not count', async () => {
    await set(nativeUsd, 300_000_000_000n, { updatedAt: now - 3_601 })
    const { at, rate, sources } = await pricesAt(now).look(token([byFeeds(), byHttp()]))
    expect({ at, rate }).toEqual({ at: now, rate: { units: 3_000_000_000n } })
    expect(sources).toEqual([
      { reason: expect.stringContaining('3601 s old'), updatedAt: now - 3_601 },
      { price: 3_000n * ONE },
    ])
    await set(nativeUsd, 300_000_000_000n)
    const [fresh] = (await pricesAt(now).look(token([byFeeds()]))).sources
    expect(fresh).toEqual({ price: 3_000n * ONE, updatedAt: now - 60 })
  })

  test('who only looks does not make the sources be asked again, also where there is no price', async () => {
    const prices = pricesAt(now, { maxAge: 60 })
    answer = { status: 500, body: '' }
    for (let looks = 0; looks < 20; looks++)
      expect((await prices.look(token([byHttp()]))).rate.reason).toContain('0 of 1')
    expect(asked).toBe(1)
    answer = { status: 200, body: '{"price":"3000"}' }
    expect(await prices.rate(token([byHttp()]))).toBe(3_000_000_000n)
    expect((await prices.look(token([byHttp()]))).rate.units).toBe(3_000_000_000n)
    expect(asked).toBe(2)
  })
})

describe('the price of the coin in USD', () => {
  const fixed = { microUsd: 2_900_000_000n, asOf: now }
  const usdBy = (minimumSources: number, hasFixed = true) => {
    const { host, pathname } = url
    const usd = toUsdDefinition(
      usdPriceSchema.parse({
        sources: [
          { feed: { address: nativeUsd.address, heartbeat: 3_600 } },
          { http: { url: `http://${host}${pathname}`, path: 'price' } },
        ],
        minimumSources,
      }),
    )
    const prices = createPrices({
      node: chain().node,
      client,
      sequencer: undefined,
      maxAge: 0,
      now: () => now,
    })
    return createUsdPrice(prices, usd, async () => (hasFixed ? fixed : undefined))()
  }

  test('is that of its feed and its server, the higher of both', async () => {
    answer = { status: 200, body: '{"price":"3010.5"}' }
    expect(await usdBy(2)).toEqual({ microUsd: 3_010_500_000n, asOf: now })
    answer = { status: 500, body: '' }
    expect(await usdBy(1)).toEqual({ microUsd: 3_000_000_000n, asOf: now })
  })

  test('is the fixed one, or unknown, where a source is too old, silent, or disagrees', async () => {
    const expectNone = async (minimumSources: number) => {
      expect(await usdBy(minimumSources)).toEqual(fixed)
      expect(await usdBy(minimumSources, false)).toBeUndefined()
    }
    answer = { status: 200, body: '{"price":"3100"}' }
    await expectNone(1)
    answer = { status: 200, body: '{"price":"3000"}' }
    await set(nativeUsd, 300_000_000_000n, { updatedAt: now - 3_601 })
    await expectNone(2)
    answer = { status: 500, body: '' }
    await expectNone(1)
  })
})
