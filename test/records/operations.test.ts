import { expect, test } from 'vitest'
import type { Json } from '../support/http/jsonRpc.js'
import { adminGet } from '../support/service/adminGet.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
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
})
