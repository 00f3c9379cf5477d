import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.js'
import { devWallet } from '../../src/cli/devnet/devWallet.js'
import { createEntryPoint } from '../../src/erc4337/createEntryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { type FailureWorld, openFailureWorld } from '../support/failures/failureWorld.js'
import { callData, type HostileParts, hostileParts } from '../support/failures/hostileParts.js'
import type { Json } from '../support/http/jsonRpc.js'
import { withBooks } from '../support/database/books.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
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

function replay(hash: Hex, changes: Readonly<Record<string, string>> = {}): Promise<Json> {
  return world.admin('GET', `/operations/${CHAIN}/${hash}/replay?${new URLSearchParams(changes)}`)
}

test('what is pending, was cancelled, or was mined in a bundle of somebody else is run when one looks', async () => {
  const wallet = await devWallet(world.info.rpcUrl)
  const foreign = await parts.operationOf(await parts.placeSettable(), {
    callData: callData.fail('too late'),
  })
  const cancelled = await parts.operationOf(await parts.placeSettable())
  const { hash, sent } = await world.unbundled(async () => {
    const sent = await parts.send(foreign)
    expect(await replay(sent)).toMatchObject({
      moment: 'alone',
      transactionHash: null,
      success: false,
      reason: 'too late',
    })
    await parts.send(cancelled)
    await world.admin('POST', `/operations/${CHAIN}/${hashOf(cancelled)}/cancel`, {})
    const { entryPoint } = parts
    const data = createEntryPoint('0.6', entryPoint).encodeHandleOps(
      [foreign],
      wallet.account.address,
    )
    const hash = await wallet.sendTransaction({ to: entryPoint, data, gas: 1_000_000n })
    return { hash, sent }
  })
  const { actualGasUsed } = await receiptOf(world.info, sent)
  const mined = await replay(sent)
  expect(mined).toMatchObject({
    moment: 'mined',
    transactionHash: hash,
    reason: 'too late',
    actualGasUsed: String(BigInt(actualGasUsed)),
  })
  // It was run when it ended, on the block of that moment; before that is kept, it is run on the block of now.
  await kept(hashOf(cancelled))
  const alone = await replay(hashOf(cancelled))
  expect(alone).toMatchObject({ moment: 'alone', success: true, code: null })
  expect(await replay(hashOf(cancelled))).toEqual(alone)
})

test('a reader of a link sees the calls of a pending operation, and its signature nowhere in them', async () => {
  const { fund, selfPaid, send } = await devAccount(world.info, 'shared')
  await fund()
  const op = await selfPaid()
  const [word = ''] = /[0-9a-f]{64}/.exec(op.signature) ?? []
  await world.unbundled(async () => {
    const path = `/operations/${CHAIN}/${await send(op)}`
    const { token } = await world.admin('POST', `${path}/shares`, {})
    const read = (authToken: string) =>
      fetch(`${world.info.url}/admin/v1${path}/replay`, { headers: { authToken } })
    const own = await (await read(world.info.authToken)).text()
    const { moment, frames } = (await (await read(token)).json()) as Json
    expect(own).toContain(word)
    expect(JSON.stringify(frames)).not.toContain(word)
    expect(moment).toBe('alone')
    expect(frames.length).toBe(JSON.parse(own).frames.length)
    expect(frames.some(({ role }: { role: string }) => role === 'account')).toBe(true)
  })
})

test('what if: other limits, call data, time and paymaster', async () => {
  const { account, fund, sign, send } = await devAccount(world.info, 'what if')
  await fund()
  const target = await parts.placeSettable()
  const limits = { verificationGasLimit: 500_000n, preVerificationGas: 100_000n }
  const draft = await account.draft({ to: target, data: callData.touch })
  const op = { ...draft, ...(await parts.fees()), ...limits, callGasLimit: 3_000n }
  const hash = await send(await sign(op))
  const { receipt } = await receiptOf(world.info, hash)
  await kept(receipt.transactionHash)
  expect(await replay(hash)).toMatchObject({ success: false, isChanged: false, hasRead: false })

  const more = await replay(hash, { callGasLimit: '100000' })
  expect(more).toMatchObject({
    success: true,
    isChanged: true,
    hasRead: true,
    reason: null,
    moment: 'mined',
  })
  expect(await replay(hash, { callGasLimit: '3001' })).toMatchObject({ success: false })
  // A call that the first run never came to reads what was not kept.
  const other = await account.draft({ to: target, data: callData.fail('not today') })
  const changes = { callGasLimit: '100000', callData: other.callData }
  expect(await replay(hash, changes)).toMatchObject({ success: false, reason: 'not today' })
  expect(await replay(hash, { verificationGasLimit: '1000' })).toMatchObject({
    success: false,
    actualGasUsed: null,
  })
  const later = await replay(hash, { blockTime: '4000000000' })
  expect(later).toMatchObject({ blockTime: '4000000000', success: false })
  await expect(replay(hash, { maxFeePerGas: `1${'0'.repeat(25)}` })).resolves.toMatchObject({
    code: 'AA21',
  })
  await expect(replay(hash, { paymasterAndData: '0x12' })).rejects.toThrow(
    /shorter than in EntryPoint v0.6/,
  )
  await expect(replay(hash, { callGasLimit: '-1' })).rejects.toThrow(/callGasLimit/)
  await expect(replay(hash, { callData: `0x${'00'.repeat(4_097)}` })).rejects.toThrow(/4096 bytes/)
  await expect(replay(hash, { nonce: '1' })).rejects.toThrow(/nonce/)

  // A command has the database alone: it says what that lacks.
  const { commands } = world.serving
  const flags = ['operation', 'replay', hash, '--chain', String(CHAIN)]
  expect(await commands.answer(...flags, '--block-time', '4000000000')).toMatch(
    /^with the changes failed in block/,
  )
  const lacking = await commands.refusal(...flags, '--call-gas-limit', '100000')
  expect(lacking).toMatch(/reads what was not kept of the first one: .*0x/)
})

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
