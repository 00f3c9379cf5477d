import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  numberToHex,
  parseAbi,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { createGasWatch } from '../../src/bundler/createGasWatch.js'
import type { TransactionReceipt } from '../../src/chain/transactionReceipt.js'
import { createEntryPoint } from '../../src/erc4337/createEntryPoint.js'
import {
  readReputations,
  setReputations,
  throttleEntity,
} from '../../src/mempool/pool/reputations.js'
import { statusOf } from '../../src/mempool/reputation.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { recordMetrics } from '../support/recordMetrics.js'
import { until } from '../support/until.js'

const postgres = useDatabase()
function database() {
  return postgres().database
}

const ENTRY_POINT: Address = `0x${'e9'.repeat(20)}`
const ENTITY: Address = `0x${'a0'.repeat(20)}`
function hashOf(index: number): Hex {
  return numberToHex(index, { size: 32 })
}

const abi = parseAbi([
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
])

/** The receipt of a bundle that nobody has sent, with one operation. */
function receiptOf(index: number): TransactionReceipt {
  const topics = encodeEventTopics({
    abi,
    eventName: 'UserOperationEvent',
    args: { userOpHash: hashOf(index), sender: ENTITY, paymaster: ENTITY },
  })
  const data = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'bool' }, { type: 'uint256' }, { type: 'uint256' }],
    [0n, true, 1n, 1n],
  )
  const place = {
    blockNumber: 1n,
    blockHash: hashOf(0),
    transactionHash: hashOf(index),
    transactionIndex: 0,
  }
  return {
    ...place,
    from: ENTITY,
    to: ENTRY_POINT,
    contractAddress: null,
    cumulativeGasUsed: 1n,
    gasUsed: 1n,
    effectiveGasPrice: 1n,
    logs: [{ ...place, address: ENTRY_POINT, topics: topics as Hex[], data, logIndex: 0 }],
    logsBloom: '0x',
    status: 1,
    type: 2,
  }
}

/** A watch over bundles that the database does not know, which are never run again. */
function openWatch(chainId: number) {
  const outcomes: string[] = []
  const clock = { now: 0 }
  const watch = createGasWatch({
    chainId,
    database: database(),
    now: () => clock.now,
    logger: silent,
    metrics: recordMetrics(({ outcome = '' }) => outcomes.push(outcome)),
  })
  const entryPoint = createEntryPoint('0.9', ENTRY_POINT)
  const compare = (index: number) =>
    watch.compare({
      receipt: receiptOf(index),
      entryPoint,
      again: async () => 'unanswered',
    })
  return {
    outcomes,
    clock,
    note: (index: number) => watch.note(hashOf(index), new Map([[ENTITY, 50_000]])),
    compare,
    /** Compares a noted bundle; the outcome. */
    async outcomeOf(index: number): Promise<string> {
      const before = outcomes.length
      watch.note(hashOf(index), new Map([[ENTITY, 50_000]]))
      compare(index)
      await until(async () => outcomes.length > before)
      return outcomes.at(-1)!
    },
  }
}

describe('the gas of mined bundles', () => {
  test('is compared once, where an entity is staked', async () => {
    const watch = openWatch(70_701)
    watch.compare(1)
    expect(await watch.outcomeOf(2)).toBe('unanswered')
    watch.compare(2)
    expect(await watch.outcomeOf(3)).toBe('unanswered')
    expect(watch.outcomes).toHaveLength(2)
    expect(await readReputations(database(), 70_701, ENTRY_POINT)).toEqual([])
  })

  test('is passed over while another bundle is looked at', async () => {
    const watch = openWatch(70_703)
    for (const index of [1, 2]) watch.note(index)
    for (const index of [1, 2]) watch.compare(index)
    expect(watch.outcomes).toEqual(['skipped'])
    await until(async () => watch.outcomes.length === 2)
    expect(await watch.outcomeOf(3)).toBe('unanswered')
  })

  test('is compared 20 times a minute, however many bundles are mined', async () => {
    const watch = openWatch(70_702)
    const outcomes: string[] = []
    for (let index = 0; index < 30; index++) outcomes.push(await watch.outcomeOf(index))
    expect(outcomes.filter((outcome) => outcome === 'unanswered')).toHaveLength(20)
    expect(outcomes.slice(20)).toEqual(Array(10).fill('skipped'))
    watch.clock.now += 2_999
    expect(await watch.outcomeOf(30)).toBe('skipped')
    watch.clock.now += 1
    expect(await watch.outcomeOf(31)).toBe('unanswered')
    expect(await watch.outcomeOf(32)).toBe('skipped')
  })
})

describe('an entity that is throttled for it', () => {
  const chainId = 70_704
  const throttled = async (opsSeen: number, opsIncluded: number) => {
    const entity = { address: ENTITY, opsSeen, opsIncluded }
    await setReputations(database(), chainId, ENTRY_POINT, [entity])
    await throttleEntity(database(), chainId, { entryPoint: ENTRY_POINT, address: ENTITY })
    const [found] = await readReputations(database(), chainId, ENTRY_POINT)
    return found!
  }

  test('needs not have been seen before', async () => {
    const named = { entryPoint: ENTRY_POINT, address: ENTITY }
    await throttleEntity(database(), 70_705, named)
    const [found] = await readReputations(database(), 70_705, ENTRY_POINT)
    expect(statusOf(found!, 0)).toBe('throttled')
  })

  test.each([
    [1, 1],
    [5_000, 5_000],
    [200, 0],
  ])('was seen %i times and included %i times', async (seen, included) => {
    const after = await throttled(seen, included)
    expect(after.opsIncluded).toBe(included)
    expect(statusOf(after, 0)).toBe('throttled')
    expect(statusOf({ ...after, opsIncluded: included + 19 }, 0)).toBe('throttled')
    expect(statusOf({ ...after, opsIncluded: included + 20 }, 0)).toBe('ok')
  })

  test('stays banned when it was', async () => {
    const after = await throttled(10_000, 3)
    expect(after).toMatchObject({ opsSeen: 10_000, opsIncluded: 3 })
    expect(statusOf(after, 0)).toBe('banned')
  })
})
