import { brotliCompressSync, constants } from 'node:zlib'
import { pino } from 'pino'
import { type Hex, numberToHex, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { noMetrics } from '../../src/base/metrics/metrics.js'
import { createDataFeeWatch } from '../../src/bundler/createDataFeeWatch.js'
import type { ChainDefinition } from '../../src/chain/definition/chainDefinition.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { createRandom } from '../evm/random.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'
import { recordMetrics } from '../support/recordMetrics.js'

/* No package holds Nitro. NodeInterface is a stub that answers what the test computes by Nitro's own rule. */

const ARB_GAS_INFO = '0x000000000000000000000000000000000000006c'
const NODE_INTERFACE = '0x00000000000000000000000000000000000000c8'
/** Code that answers a call with the storage slot that its selector names. */
const ANSWERS_BY_SELECTOR = '0x5f3560e01c545f5260205ff3'
/** Code that answers with slot 0 times the size of its call data, slot 1 and slot 2. */
const ANSWERS_BY_SIZE = '0x5f5436025f5260015460205260025460405260605ff3'
const selectors = { pricePerUnit: 0xf5d6ded7, minimumGasPrice: 0xf918379a } as const

const baseFee = parseGwei('1')
const pricePerUnit = parseGwei('200')
const random = createRandom(61)
/** Four words and the sample behind the selector. */
const QUESTION_BYTES = 4n + 4n * 32n + 1_024n

let anvil: Anvil
let node: NodeClient
let compared: string[]
let logged: object[]
let time: number

const slot = (address: Hex, index: number, value: bigint) =>
  anvil.request('anvil_setStorageAt', [
    address,
    numberToHex(index, { size: 32 }),
    numberToHex(value, { size: 32 }),
  ])

beforeAll(async () => {
  anvil = await startAnvil()
  node = createNodeClient({ urls: [anvil.url], logger: silent })
  await anvil.request('anvil_setCode', [ARB_GAS_INFO, ANSWERS_BY_SELECTOR])
  await anvil.request('anvil_setCode', [NODE_INTERFACE, ANSWERS_BY_SIZE])
  await slot(ARB_GAS_INFO, selectors.pricePerUnit, pricePerUnit)
  await slot(ARB_GAS_INFO, selectors.minimumGasPrice, baseFee)
})
afterAll(async () => {
  await node?.close()
  await anvil?.stop()
})
beforeEach(() => {
  compared = []
  logged = []
  time = 0
})

/** Gas that Nitro estimates for a call with 1,024 random bytes: it signs a transaction of its own around them. */
async function nitroEstimate(): Promise<bigint> {
  const raw = await privateKeyToAccount(devKey(0)).signTransaction({
    type: 'eip1559',
    chainId: 42_161,
    nonce: 0x1234_5678,
    gas: 0x1234_5678n,
    maxFeePerGas: 0x1234_5678n,
    maxPriorityFeePerGas: 0x1234_5678n,
    to: NODE_INTERFACE,
    data: `0x${Buffer.from(random.bytes(1_024)).toString('hex')}`,
  })
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants
  const bytes = Buffer.from(raw.slice(2), 'hex')
  const { length } = brotliCompressSync(bytes, { params: { [quality]: 1, [window]: 22 } })
  const units = ((BigInt(length) * 16n + 256n) * 101n) / 100n
  return (units * pricePerUnit * 110n) / (100n * baseFee)
}

/** What the node answers: this much gas for data, at the base fee. */
async function answer(gas: bigint): Promise<void> {
  await slot(NODE_INTERFACE, 0, gas / QUESTION_BYTES)
  await slot(NODE_INTERFACE, 1, baseFee)
  await anvil.request('evm_mine', [])
}

function watch(changes: Partial<Pick<ChainDefinition, 'dataFee' | 'calldataFloor'>> = {}) {
  return createDataFeeWatch({
    node,
    definition: { chainId: 42_161, dataFee: 'arbitrum', calldataFloor: true, ...changes },
    logger: pino({ level: 'error' }, { write: (line) => logged.push(JSON.parse(line)) }),
    now: () => time,
    metrics: recordMetrics(({ outcome = '' }) => compared.push(outcome)),
  })!
}

test("the node's estimate is ours with its padding, and is asked for once an hour", async () => {
  await answer(await nitroEstimate())
  const { look } = watch()
  await look(await node.head())
  time = 3_599_999
  await look(await node.head())
  expect(compared).toEqual(['agrees'])
  time = 3_600_000
  await look(await node.head())
  expect(compared).toEqual(['agrees', 'agrees'])
  expect(logged).toEqual([])
})

test.each([
  ['higher', 106n],
  ['lower', 94n],
])('an estimate that is %s is an error in the log, with both figures', async (_, percent) => {
  const estimate = ((await nitroEstimate()) * percent) / 100n
  await answer(estimate)
  await watch().look(await node.head())
  expect(compared).toEqual(['differs'])
  expect(logged).toMatchObject([
    { chainId: 42_161, msg: expect.stringContaining('the node estimates a different data fee') },
  ])
  expect(Object.keys(logged[0]!)).toEqual(expect.arrayContaining(['ofNode', 'ours']))
})

test('a node without NodeInterface is no trouble, and other chains are not asked', async () => {
  await anvil.request('anvil_setCode', [NODE_INTERFACE, '0x'])
  await anvil.request('evm_mine', [])
  await watch().look(await node.head())
  expect(compared).toEqual(['unanswered'])
  expect(logged).toEqual([])
  const others = { node, logger: silent, now: () => time, metrics: noMetrics }
  for (const dataFee of ['none', 'opStack', 'scroll'] as const)
    expect(
      createDataFeeWatch({ ...others, definition: { chainId: 1, dataFee, calldataFloor: true } }),
    ).toBeUndefined()
})

test('a floor price of calldata that the chain has got against its definition is an error in the log', async () => {
  const noFloor = { dataFee: 'none', calldataFloor: false } as const
  await watch(noFloor).look(await node.head())
  expect(compared).toEqual(['differs'])
  expect(logged).toMatchObject([
    { msg: expect.stringContaining('which facts.calldataFloor denies: set it to true') },
  ])
  await watch({ calldataFloor: true }).look(await node.head())
  expect(compared).toEqual(['differs', 'unanswered'])
})
