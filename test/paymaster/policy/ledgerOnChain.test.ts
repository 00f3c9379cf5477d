import { randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import type { Operation } from '../../../src/erc4337/operation.js'
import { askLedger, budgetClaim } from '../../support/database/ledger.js'
import { tank } from '../../support/operations/inclusionOf.js'
import { useFreshWorld } from '../../support/world.js'

const finalityDepth = 5

const chain = useFreshWorld({ definition: { finalityDepth } })
let policyId = ''
beforeEach(async () => {
  policyId = randomUUID()
})

/** The reservation that a sponsor would make for the operation. */
async function reserveFor(op: Operation, seconds = 300) {
  const { chainId } = chain().definition
  const head = await chain().heads.refresh()
  const maxCost = chain().entryPoint.requiredPrefund(op)
  const claim = budgetClaim({ policyId, limit: maxCost, amount: maxCost })
  const { reserved } = await askLedger(chain().database, {
    slot: {
      chainId,
      entryPoint: chain().entryPoint.address,
      paymaster: tank,
      appId: chain().appId,
      sender: op.sender,
      nonce: op.nonce,
    },
    maxCost,
    validUntil: BigInt(head.timestamp + seconds),
    head: { deposit: maxCost, blockNumber: head.number, timestamp: head.timestamp },
    claim: { ofApp: [{ policyId, claims: [claim] }] },
    hash: chain().entryPoint.hash(op, chainId),
  })
  expect(reserved.kind).toBe('granted')
  return maxCost
}

async function books() {
  const reservation = await chain()
    .database.selectFrom('reservations')
    .select(['state', 'actual_cost'])
    .where('chain_id', '=', BigInt(chain().definition.chainId))
    .executeTakeFirstOrThrow()
  const counter = await chain()
    .database.selectFrom('budget_counters')
    .select(['used', 'settled'])
    .where('policy_id', '=', policyId)
    .executeTakeFirstOrThrow()
  return [reservation.state, reservation.actual_cost, counter.used, counter.settled]
}

async function mine(blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) await chain().anvil.request('evm_mine', [])
  await chain().round()
}

async function costOf(hash: Hex): Promise<bigint> {
  return (await chain().receipt(hash)).actualGasCost
}

test('a sponsorship that our bundle included is settled, undone by a reorg, and settled for good', async () => {
  const op = chain().operation(await chain().createAccount())
  const maxCost = await reserveFor(op)
  const hash = await chain().admit(op)
  await chain().settle()
  const first = await costOf(hash)
  expect(first).toBeLessThan(maxCost)
  expect(await books()).toEqual(['included', first, maxCost, first])

  await chain().anvil.request('anvil_reorg', [1, []])
  await chain().round()
  expect(await books()).toEqual(['open', 0n, maxCost, 0n])
  await chain().settle()
  const second = await costOf(hash)
  expect(await books()).toEqual(['included', second, maxCost, second])

  await mine(finalityDepth)
  expect(await books()).toEqual(['settled', second, second, second])
})

test('a sponsorship that we never saw again is settled when someone else includes it', async () => {
  const op = chain().operation(await chain().createAccount())
  const maxCost = await reserveFor(op)
  await chain().round()
  await chain().carry([op])
  await chain().round()
  const [state, cost, used, settled] = await books()
  expect([state, used]).toEqual(['included', maxCost])
  expect(cost).toBeGreaterThan(0n)
  expect(settled).toBe(cost)
  const hash = chain().entryPoint.hash(op, chain().definition.chainId)
  expect(await costOf(hash)).toBe(cost)
})

test('a sponsorship that nobody used is released once a block past its time is final', async () => {
  const maxCost = await reserveFor(chain().operation(await chain().createAccount()), 60)
  await chain().round()
  await chain().anvil.request('evm_increaseTime', [61])
  await mine(1)
  expect(await books()).toEqual(['expired', 0n, maxCost, 0n])
  await mine(finalityDepth)
  expect(await books()).toEqual(['released', 0n, 0n, 0n])
})
