import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.js'
import { createEntryPoint } from '../../src/erc4337/createEntryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { type FailureWorld, openFailureWorld } from '../support/failures/failureWorld.js'
import { callData, type HostileParts, hostileParts } from '../support/failures/hostileParts.js'
import type { Json } from '../support/http/jsonRpc.js'
import { withBooks } from '../support/database/books.js'
import { receiptOf } from '../support/service/devAccount.js'
import { until } from '../support/until.js'

const CHAIN = 41_352

let world: FailureWorld
let parts: HostileParts

beforeAll(async () => {
  world = await openFailureWorld(CHAIN)
  parts = await hostileParts(world)
})
afterAll(() => world?.stop())

function inBooks<Result>(run: (database: Database) => Promise<Result>): Promise<Result> {
  return withBooks(world.serving.folder, run)
}

function hashOf(op: Operation): Hex {
  return createEntryPoint('0.6', parts.entryPoint).hash(op, CHAIN)
}

/** Waits until the run of this operation or transaction is kept. */
function kept(hash: Hex): Promise<unknown> {
  return until(async () => {
    const found = sql`select 1 from witnesses where hash = ${hash}`
    const { rows } = await inBooks((database) => found.execute(database))
    return rows.length > 0
  })
}

function replay(hash: Hex): Promise<Json> {
  return world.admin('GET', `/operations/${CHAIN}/${hash}/replay`)
}

test('operations are run again when their chain is gone: by the API and by a command', async () => {
  const failing = await parts.operationOf(await parts.placeSettable(), {
    callData: callData.fail('sold out'),
  })
  const failed = await parts.send(failing)
  const { receipt, actualGasUsed, actualGasCost } = await receiptOf(world.info, failed)
  await kept(receipt.transactionHash)

  // One that succeeded is kept when somebody looks at it.
  const fine = await parts.send(await parts.operationOf(await parts.placeSettable()))
  const { receipt: fineReceipt } = await receiptOf(world.info, fine)
  expect(await replay(fine)).toMatchObject({ success: true, reason: null })
  await kept(fineReceipt.transactionHash)

  const paymaster = await parts.placeSettable()
  await parts.deposit(paymaster)
  await parts.set(paymaster, true)
  const unpaid = await parts.operationOf(await parts.placeSettable(), { paymaster })
  await expect(parts.send(unpaid)).rejects.toThrow(/AA33/)
  await kept(hashOf(unpaid))

  const moody = await parts.placeSettable()
  const dropped = await world.unbundled(async () => {
    const sent = await parts.send(await parts.operationOf(moody))
    await parts.set(moody, true)
    return sent
  })
  await kept(dropped)

  await world.serving.chain.stop()

  const answer = await replay(failed)
  expect(answer).toMatchObject({
    moment: 'mined',
    transactionHash: receipt.transactionHash,
    success: false,
    actualGasUsed: String(BigInt(actualGasUsed)),
    actualGasCost: String(BigInt(actualGasCost)),
    reason: 'sold out',
    isCut: false,
  })
  const fault = answer.frames.find(({ isFault }: Json) => isFault)
  expect(fault).toMatchObject({
    to: failing.sender,
    role: 'account',
    error: 'reverted',
    reason: 'sold out',
    isUndone: true,
  })
  const touched = (await replay(fine)).frames.findLast(({ depth }: Json) => depth === 2)
  expect(touched).toMatchObject({ role: 'account', error: null, events: [{ name: null }] })

  const refusal = await replay(hashOf(unpaid))
  expect(refusal).toMatchObject({ moment: 'refused', success: false, code: 'AA33' })
  expect(refusal.frames.find(({ isFault }: Json) => isFault)).toMatchObject({
    to: paymaster,
    role: 'paymaster',
    function: { signature: 'validatePaymasterUserOp' },
    reason: 'not in the mood',
  })

  expect(await replay(dropped)).toMatchObject({ moment: 'refused', code: 'AA23' })

  const { commands } = world.serving
  const printed = await commands.answer('operation', 'replay', failed, '--chain', String(CHAIN))
  expect(printed).toMatch(/^failed in block \d+, in transaction 0x/)
  expect(printed).toContain('reason: sold out')
  expect(printed).toMatch(/^=> +CALL account .* reverted: sold out$/m)
  const asJson = await commands.answer(
    ...['operation', 'replay', hashOf(unpaid), '--chain', String(CHAIN), '--json'],
  )
  expect(JSON.parse(asJson)).toEqual(refusal)

  const change = sql`update witnesses set bytes = set_byte(bytes, 40, get_byte(bytes, 40) # 1)
    where hash = ${receipt.transactionHash}`
  await inBooks((database) => change.execute(database))
  await expect(replay(failed)).rejects.toThrow(/was changed/)
  const words = await commands.refusal('operation', 'replay', failed, '--chain', String(CHAIN))
  expect(words).toMatch(/was changed/)
})
