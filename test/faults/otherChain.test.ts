import { numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { inclusions, withBooks } from '../support/database/books.js'
import { rpc } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import type { RunningService } from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const chainId = 1_042
let serving: Serving
let service: RunningService
let nodes: TroubledNode[] = []
const others: Anvil[] = []

beforeAll(async () => {
  serving = await prepareServing(chainId, async ({ rpcUrl }) => {
    nodes = [await startTroubledNode(rpcUrl)]
    return { rpcUrls: nodes.map(({ url }) => url) }
  })
  service = await serving.start()
})
afterEach(() => nodes[0]?.end())
afterAll(async () => {
  await serving?.stop()
  await Promise.all([...nodes, ...others].map((each) => each.stop()))
})

/** What the books say of operations, inclusions, bundles and blocks, but for what a growing chain adds. */
function books() {
  return withBooks(serving.folder, async (database) => ({
    operations: await database
      .selectFrom('operations')
      .select(['hash', 'state', 'reason_code'])
      .orderBy('hash')
      .execute(),
    inclusions: await database
      .selectFrom('inclusions')
      .select(['user_op_hash', 'block_hash', 'actual_gas_cost'])
      .orderBy('user_op_hash')
      .execute(),
    receipts: await database
      .selectFrom('transaction_receipts')
      .select('hash')
      .orderBy('hash')
      .execute(),
    bundles: await database.selectFrom('bundles').select(['id', 'state']).orderBy('id').execute(),
  }))
}

async function ready() {
  const response = await fetch(`${serving.info().url}/health/ready`)
  const { reasons } = (await response.json()) as { reasons: string[] }
  return { status: response.status, reasons: reasons.join(' ') }
}

async function otherChain(args: readonly string[], blocks: number): Promise<Anvil> {
  const other = await startAnvil([...args])
  others.push(other)
  await other.request('evm_increaseTime', [1_000])
  await other.request('anvil_mine', [numberToHex(blocks)])
  return other
}

const cases = [
  ['another id, higher', 'serves chain 10', ['--chain-id', '10'], 300],
  ['another id, lower', 'serves chain 10', ['--chain-id', '10'], 1],
  ['another block 0, higher', 'another block 0', ['--chain-id', String(chainId)], 300],
] as const

describe('a node that answers from another chain for a while', () => {
  test.each(cases)(
    '%s: is away, and the books stay as they are',
    async (name, words, args, blocks) => {
      const settled = intentsOf(`${name}, before`, 4).map(selfPaid)
      for (const intent of settled) await prepare(serving.info(), intent)
      const later = intentsOf(`${name}, later`, 3).map(selfPaid)
      for (const intent of later) await prepare(serving.info(), intent)
      for (const intent of settled) await send(serving.info(), intent)
      await included(serving.info(), settled)
      await until(async () => (await books()).bundles.every(({ state }) => state !== 'signed'))
      const before = await books()
      const other = await otherChain(args, blocks)
      await nodes[0]!.begin({ kind: 'elsewhere', url: other.url })
      await until(async () => {
        // Whatever is asked until then is refused for now, not for good.
        const account = await devAccount(serving.info(), later[0]!.seed)
        const answer = await rpc(serving.info().bundlerUrl, 'eth_sendUserOperation', [
          toInterfaceOperation({ ...later[0]!.op!, signature: '0x1234' }),
          account.entryPoint,
        ])
        expect([-32005, -32507, -32500]).toContain(answer.body.error?.code)
        return (await ready()).status === 503
      })
      const { reasons } = await ready()
      expect(reasons).toContain(words)
      expect(reasons).not.toContain('127.0.0.1')
      const offered = nodes[0]!.met('eth_sendRawTransaction')
      for (const intent of later) {
        const account = await devAccount(serving.info(), intent.seed)
        const answer = await rpc(serving.info().bundlerUrl, 'eth_sendUserOperation', [
          toInterfaceOperation(intent.op!),
          account.entryPoint,
        ])
        expect([answer.status, answer.body.error?.code]).toEqual([503, -32005])
      }
      const looks = nodes[0]!.met('eth_chainId')
      await until(async () => nodes[0]!.met('eth_chainId') > looks + 20)
      expect(nodes[0]!.met('eth_sendRawTransaction')).toBe(offered)
      expect(await books()).toEqual(before)
      await nodes[0]!.end()
      await until(async () => (await ready()).status === 200)
      for (const intent of later) await send(serving.info(), intent)
      await included(serving.info(), later)
      const after = await books()
      expect(after.operations.filter(({ state }) => state !== 'included')).toEqual([])
      expect(after.inclusions).toEqual(expect.arrayContaining(before.inclusions))
      expect(after.inclusions).toHaveLength(await inclusions(serving.info()))
      // One line for the change, however often it was met.
      const said = service
        .output()
        .split('\n')
        .filter((line) => line.includes(words))
      expect(said.filter((line) => line.includes('counts as unavailable')).length).toBeGreaterThan(
        0,
      )
    },
  )

  test('a start meanwhile keeps the books, and serves when its own chain answers', async () => {
    const before = await books()
    const other = await otherChain(['--chain-id', String(chainId)], 5)
    await nodes[0]!.begin({ kind: 'elsewhere', url: other.url })
    const starting = serving.start()
    await until(async () => nodes[0]!.met() > 20)
    expect(await books()).toEqual(before)
    await nodes[0]!.end()
    service = await starting
    await until(async () => (await ready()).status === 200)
    expect(await books()).toEqual(before)
  })
})

function selfPaid<Each extends object>(each: Each) {
  return { ...each, payer: 'self' as const }
}
