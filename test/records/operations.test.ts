import { encodeFunctionData, parseAbiItem } from 'viem'
import { expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Json } from '../support/http/jsonRpc.js'
import { adminGet } from '../support/service/adminGet.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser()

function get(path: string): Promise<Json> {
  return adminGet(purser().info, path)
}

test('a sponsored operation is listed, with its timeline from the decision to the block', async () => {
  const { info } = purser()
  const dev = await devAccount(info, 'listed')
  const hash = await dev.send(await dev.sponsored())
  const { receipt, actualGasCost } = await receiptOf(info, hash)
  const { items } = await get(`/operations?sender=${dev.account.address}`)
  expect(items).toMatchObject([
    { userOpHash: hash, state: 'included', success: true, chainId: info.chainId, code: null },
  ])
  expect(BigInt(items[0].actualCost)).toBe(BigInt(actualGasCost))
  const whole = await get(`/operations/${info.chainId}/${hash}`)
  const kinds = whole.timeline.map(({ kind }: Json) => kind)
  expect(kinds).toEqual(['sponsored', 'received', 'bundled', 'broadcast', 'included'])
  expect(whole.timeline.at(-1).transactionHash).toBe(receipt.transactionHash)
  expect(whole.operation.sender).toBe(dev.account.address.toLowerCase())
  expect(whole.calls).toMatchObject([{ value: '0', delegate: false }])
  expect(whole.explanation).toBeNull()

  // Of EntryPoint v0.6, in the fields of the record: not packed.
  const { operation, entryPoint, appId, chainId } = whole
  const again = await fetch(`${info.url}/admin/v1/apps/${appId}/simulate`, {
    method: 'POST',
    headers: { authToken: info.authToken, 'content-type': 'application/json' },
    body: JSON.stringify({ chainId, entryPoint, operation }),
  })
  expect(await again.json()).toMatchObject({ accepted: false, rule: 'AA10' })

  const { answer, refusal } = commandsOn(purser().dataFolder)
  const rows = rowsOf(await answer('operation', 'list', '--sender', dev.account.address))
  expect(rows).toMatchObject([{ state: 'included', hash }])
  const shown = await answer('operation', 'show', hash, '--chain', String(info.chainId))
  expect(shown).toContain(receipt.transactionHash)
  expect(await refusal('operation', 'list', '--state', 'lost')).toMatch(/must be one of pooled/)
})

test('calls and errors have the names of the ABI that the app gave', async () => {
  const { info } = purser()
  const dev = await devAccount(info, 'named')
  const item = parseAbiItem('function adopt(address to, uint256 id)')
  const data = encodeFunctionData({ abi: [item], args: [TARGET, 7n] })
  const hash = await dev.send(await dev.selfPaid({ to: TARGET, data }))
  await receiptOf(info, hash)
  const path = `/operations/${info.chainId}/${hash}`
  const { appId, calls } = await get(path)
  expect(calls).toMatchObject([{ data, function: null }])
  const give = async (abi: string) => {
    const answer = await fetch(`${info.url}/admin/v1/apps/${appId}/abi`, {
      method: 'POST',
      headers: { authToken: info.authToken, 'content-type': 'application/json' },
      body: JSON.stringify({ abi }),
    })
    return { status: answer.status, body: (await answer.json()) as Json }
  }
  expect(await give('function adopt(')).toMatchObject({
    status: 400,
    body: { message: 'abi is not an ABI: "function adopt(" cannot be read' },
  })
  expect((await give(JSON.stringify([item]))).body.items).toEqual([
    'function adopt(address to, uint256 id)',
  ])
  expect((await get(path)).calls[0].function).toEqual({
    signature: 'adopt(address,uint256)',
    args: [
      { name: 'to', value: TARGET.toLowerCase() },
      { name: 'id', value: '7' },
    ],
  })
  const { items } = await get('/audit?action=app.abi')
  expect(items).toMatchObject([{ objectId: appId, before: { items: 0 }, after: { items: 1 } }])
  const { answer } = commandsOn(purser().dataFolder)
  expect(await answer('app', 'abi', appId)).toBe('function adopt(address to, uint256 id)\n')
  expect(await answer('app', 'describe', appId, '--abi', 'error SoldOut()')).toContain('SoldOut')
  expect((await give('')).body.items).toEqual([])
  expect(await get(`/apps/${appId}/abi`)).toEqual({ items: [] })
})

test('a call that reverts on the chain is explained', async () => {
  const { info } = purser()
  const dev = await devAccount(info, 'reverting')
  const op = await dev.selfPaid({ to: dev.account.address })
  const spent = await dev.sign({ ...op, callGasLimit: 1n })
  const hash = await dev.send(spent)
  await receiptOf(info, hash)
  const whole = await get(`/operations/${info.chainId}/${hash}`)
  expect(whole).toMatchObject({ state: 'included', success: false })
  expect(whole.explanation.code).toBe('CALL_REVERTED')
  const path = `/operations/${info.chainId}/${hash}/advice`
  const { neededCallGas, ...advice } = await get(path)
  expect(advice).toEqual({
    callGasLimit: '1',
    message: `out of gas, the callGasLimit was 1, about ${neededCallGas} is needed`,
  })
  expect(Number(neededCallGas)).toBeGreaterThan(1)
  expect(BigInt(neededCallGas)).toBeLessThanOrEqual(op.callGasLimit)

  const simulated = await fetch(`${info.url}/admin/v1/apps/${whole.appId}/simulate`, {
    method: 'POST',
    headers: { authToken: info.authToken, 'content-type': 'application/json' },
    body: JSON.stringify({
      chainId: info.chainId,
      entryPoint: whole.entryPoint,
      operation: toInterfaceOperation(
        await dev.sign({ ...(await dev.selfPaid({ to: dev.account.address })), callGasLimit: 1n }),
      ),
    }),
  })
  expect(await simulated.json()).toMatchObject({
    accepted: false,
    message: expect.stringMatching(/out of gas, the callGasLimit was 1, about \d+ is needed$/),
  })

  const fine = await dev.send(await dev.selfPaid())
  await receiptOf(info, fine)
  await expect(get(`/operations/${info.chainId}/${fine}/advice`)).rejects.toThrow()
})
