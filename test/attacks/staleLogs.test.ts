import { encodeFunctionData, type Hex, parseAbi, parseEther, toHex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { operationReceipt } from '../../src/bundler/operationViews.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { askLedger } from '../support/database/ledger.js'
import { silent } from '../support/logger.js'
import { tank } from '../support/operations/inclusionOf.js'
import { useFreshWorld } from '../support/world.js'

/*
 * The attacker's operation is sponsored, and he carries it to the chain himself. The node that the
 * service asks for the events of that block does not have the block yet. The chain has charged; if the
 * books miss it, the budget comes back to him.
 */

const finalityDepth = 5
const nonces = parseAbi(['function incrementNonce(uint192 key)'])

const chain = useFreshWorld({ definition: { finalityDepth } })
let troubled: TroubledNode
beforeEach(async () => {
  troubled = await startTroubledNode(chain().anvil.url)
  const node = createNodeClient({ urls: [troubled.url], logger: silent })
  Object.assign(chain().context, { node })
})
afterEach(async () => {
  await chain().context.node.close()
  await troubled.stop()
})

/** An operation with the reservation that a sponsor would make for it. */
async function sponsored(): Promise<{ op: Operation; hash: Hex; maxCost: bigint }> {
  const op = chain().operation(await chain().createAccount())
  const { chainId } = chain().definition
  const { number, timestamp } = await chain().heads.refresh()
  const maxCost = chain().entryPoint.requiredPrefund(op)
  const hash = chain().entryPoint.hash(op, chainId)
  const { entryPoint, appId } = chain()
  const { sender, nonce } = op
  await askLedger(chain().database, {
    slot: { chainId, entryPoint: entryPoint.address, paymaster: tank, appId, sender, nonce },
    maxCost,
    validUntil: BigInt(timestamp + 60),
    head: { deposit: maxCost, blockNumber: number, timestamp },
    hash,
  })
  await chain().round()
  return { op, hash, maxCost }
}

function books() {
  return chain()
    .database.selectFrom('reservations')
    .select(['state', 'actual_cost'])
    .where('chain_id', '=', BigInt(chain().definition.chainId))
    .executeTakeFirstOrThrow()
}

/** The wei that the EntryPoint charged, as the real node says. */
async function chargeOf({ logs }: { logs: readonly { topics: readonly string[]; data: Hex }[] }) {
  const [, , cost] = /^0x(.{64})(.{64})(.{64})/.exec(logs.at(-1)?.data ?? '')?.slice(1) ?? []
  return BigInt(`0x${cost}`)
}

async function mine(blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) await chain().anvil.request('evm_mine', [])
}

/** The index passes the block of `op` while the node answers without that block's events. */
async function carryUnseen(op: Operation): Promise<bigint> {
  const before = (await chain().heads.refresh()).number
  const charged = await chargeOf(await chain().carry([op]))
  await troubled.begin({ kind: 'old', block: before, methods: ['eth_getLogs'] })
  await chain()
    .round()
    .catch(() => undefined)
  expect(troubled.met()).toBeGreaterThan(0)
  await troubled.end()
  return charged
}

test('a node one block behind hides no inclusion from the books', async () => {
  const { op } = await sponsored()
  const charged = await carryUnseen(op)
  await chain().round()
  expect(await books()).toEqual({ state: 'included', actual_cost: charged })
})

/** The index has passed the block of `op`, which its node did not tell it, even asked by hash. */
async function carryForgotten(op: Operation): Promise<bigint> {
  const charged = await chargeOf(await chain().carry([op]))
  await troubled.begin({ kind: 'empty', methods: ['eth_getLogs'] })
  await chain().round()
  await troubled.end()
  expect(await books()).toEqual({ state: 'open', actual_cost: 0n })
  return charged
}

test('the question for its receipt settles an inclusion that the index has missed', async () => {
  const { op, hash } = await sponsored()
  const charged = await carryForgotten(op)
  await operationReceipt(chain().context, hash)
  expect(await books()).toEqual({ state: 'included', actual_cost: charged })
})

test('an inclusion that the index has missed is found before its reservation is released', async () => {
  const { op } = await sponsored()
  const charged = await carryForgotten(op)
  await chain().anvil.request('evm_increaseTime', [61])
  await mine(1)
  await chain().round()
  expect((await books()).state).toBe('expired')
  await mine(finalityDepth)
  await chain().round()
  expect(await books()).toEqual({ state: 'settled', actual_cost: charged })
})

test('nonces that were used up without an operation do not hold up the index', async () => {
  const sender = await chain().createAccount()
  const { chainId } = chain().definition
  const { number, timestamp } = await chain().heads.refresh()
  const keys = Array.from({ length: 25 }, (_, i) => BigInt(i + 1))
  for (const key of keys)
    await askLedger(chain().database, {
      slot: {
        ...{ chainId, entryPoint: chain().entryPoint.address, paymaster: tank },
        ...{ appId: chain().appId, sender, nonce: key << 64n },
      },
      maxCost: 1n,
      validUntil: BigInt(timestamp + 60),
      head: { deposit: 1000n, blockNumber: number, timestamp },
    })
  await chain().anvil.request('anvil_impersonateAccount', [sender])
  await chain().anvil.request('anvil_setBalance', [sender, toHex(parseEther('1'))])
  for (const key of keys) {
    const data = encodeFunctionData({ abi: nonces, args: [key] })
    const call = { from: sender, to: chain().entryPoint.address, data }
    await chain().anvil.request('eth_sendTransaction', [call])
  }
  await chain().anvil.request('evm_increaseTime', [61])
  await mine(1)
  await chain().round()
  await mine(finalityDepth)

  const states = () =>
    chain()
      .database.selectFrom('reservations')
      .select(({ fn }) => ['state', fn.countAll<bigint>().as('number')])
      .where('sender', '=', sender)
      .groupBy('state')
      .orderBy('state')
      .execute()
  expect(await states()).toEqual([{ state: 'expired', number: 25n }])
  await troubled.begin({ kind: 'slow', milliseconds: 0 })
  await chain().round()
  expect(troubled.met('eth_getLogs')).toBeLessThan(25)
  await troubled.end()
  expect(await states()).toEqual([
    { state: 'expired', number: 5n },
    { state: 'released', number: 20n },
  ])
  await mine(1)
  await chain().round()
  expect(await states()).toEqual([{ state: 'released', number: 25n }])
})

test('a question for the receipt of an operation of nobody here writes nothing', async () => {
  const op = chain().operation(await chain().createAccount())
  await chain().carry([op])
  await chain().round()
  const hash = chain().entryPoint.hash(op, chain().definition.chainId)
  expect(await operationReceipt(chain().context, hash)).toBeDefined()
  const stored = await chain()
    .database.selectFrom('inclusions')
    .select('user_op_hash')
    .where('user_op_hash', '=', hash)
    .execute()
  expect(stored).toEqual([])
})
