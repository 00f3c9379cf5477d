import { type Address, type Hex, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { createGasWatch, type GasCompared } from '../../src/bundling/createGasWatch.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { createEntryPoint } from '../../src/entrypoint/createEntryPoint.js'
import { statusOf } from '../../src/mempool/reputation.js'
import {
  readReputations,
  setReputations,
  throttleEntity,
} from '../../src/store/pool/reputations.js'
import { startHttpNode } from '../support/chain/httpNode.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
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

type Request = { readonly id: number; readonly method: string }

/** A watch over a node that has no debug methods, and answers only when `released`. */
async function openWatch(chainId: number, released: Promise<void> = Promise.resolve()) {
  let requests = 0
  const http = await startHttpNode(async (body, response) => {
    requests++
    await released
    const refuse = ({ id }: Request) => {
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'method not found' } }
    }
    const asked = body as Request | Request[]
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(refuse) : refuse(asked)))
  })
  const node = createNodeClient({ urls: [http.url], logger: silent })
  const outcomes: GasCompared[] = []
  const onGasCompared = (outcome: GasCompared) => outcomes.push(outcome)
  const watch = createGasWatch({
    chainId,
    node,
    database: database(),
    logger: silent,
    onGasCompared,
  })
  const entryPoint = createEntryPoint('0.9', ENTRY_POINT)
  return {
    outcomes,
    requests: () => requests,
    note: (index: number, staked = true) =>
      watch.note(hashOf(index), [{ role: 'paymaster', address: ENTITY, staked, gasUsed: 50_000 }]),
    compare: (index: number) =>
      watch.compare({ transactionHash: hashOf(index), entryPoint, hashes: [hashOf(index)] }),
    async stop() {
      await node.close()
      await http.stop()
    },
  }
}

describe('the gas of mined bundles', () => {
  test('is not judged where the node cannot trace, and asked for once', async () => {
    const watch = await openWatch(70_701)
    try {
      watch.note(1)
      watch.compare(1)
      watch.compare(1)
      await until(async () => watch.outcomes.length > 0)
      expect(watch.outcomes).toEqual(['unanswered'])
      expect(watch.requests()).toBe(1)
      expect(await readReputations(database(), 70_701, ENTRY_POINT)).toEqual([])
    } finally {
      await watch.stop()
    }
  })

  test('is not asked for where nobody is staked', async () => {
    const watch = await openWatch(70_702)
    try {
      watch.note(1, false)
      watch.compare(1)
      watch.note(2)
      watch.compare(2)
      await until(async () => watch.outcomes.length > 0)
      expect(watch.outcomes).toEqual(['unanswered'])
      expect(watch.requests()).toBe(1)
    } finally {
      await watch.stop()
    }
  })

  test('is passed over while two bundles are looked at', async () => {
    let resolve = () => {}
    const promise = new Promise<void>((done) => {
      resolve = done
    })
    const watch = await openWatch(70_703, promise)
    try {
      for (const index of [1, 2, 3]) watch.note(index)
      for (const index of [1, 2, 3]) watch.compare(index)
      expect(watch.outcomes).toEqual(['skipped'])
      resolve()
      await until(async () => watch.outcomes.length === 3)
      expect(watch.outcomes.slice(1)).toEqual(['unanswered', 'unanswered'])
      watch.note(4)
      watch.compare(4)
      await until(async () => watch.outcomes.length === 4)
      expect(watch.outcomes[3]).toBe('unanswered')
    } finally {
      resolve()
      await watch.stop()
    }
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
