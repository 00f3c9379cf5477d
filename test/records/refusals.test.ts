import { expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { type Json, rpc } from '../support/http/jsonRpc.js'
import { adminGet } from '../support/service/adminGet.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount } from '../support/service/devAccount.js'
import { runCli } from '../support/service/startPurser.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

const purser = useRunningPurser()

function get(path: string): Promise<Json> {
  return adminGet(purser().info, path)
}

test('a refused send is found with what was asked, what was answered and what to do', async () => {
  const { info } = purser()
  const dev = await devAccount(info, 'refused')
  const good = await dev.selfPaid()
  const op = toInterfaceOperation({ ...good, nonce: good.nonce + 5n })
  const { body } = await rpc(info.bundlerUrl, 'eth_sendUserOperation', [op, dev.entryPoint])
  const found = await until(async () => {
    const { items } = await get(`/refusals?sender=${dev.account.address}`)
    return items[0]
  })
  expect(found).toMatchObject({
    method: 'eth_sendUserOperation',
    chainId: info.chainId,
    sender: dev.account.address.toLowerCase(),
    entryPoint: dev.entryPoint.toLowerCase(),
    nonce: String(good.nonce + 5n),
    code: body.error?.code,
    message: body.error?.message,
  })
  const whole = await get(`/refusals/${found.refusalId}`)
  expect(whole.request[0]).toEqual(JSON.parse(JSON.stringify(op)))
  expect(whole.explanation.steps[0]).toMatch(/nonce/)

  const { answer } = commandsOn(purser().dataFolder)
  const rows = rowsOf(await answer('refusal', 'list', '--sender', dev.account.address))
  expect(rows[0]).toMatchObject({ id: found.refusalId, method: 'eth_sendUserOperation' })
  const shown = await answer('refusal', 'show', found.refusalId)
  expect(shown).toContain(whole.explanation.meaning)
  expect(shown).toContain(dev.entryPoint)
})

test('what is malformed is recorded too, what is about no operation is not', async () => {
  const { info } = purser()
  await rpc(info.bundlerUrl, 'eth_getUserOperationReceipt', ['0x'])
  await rpc(info.bundlerUrl, 'eth_estimateUserOperationGas', [{ sender: 'me\u0000' }, 7])
  const found = await until(async () => {
    const { items } = await get('/refusals?method=eth_estimateUserOperationGas&code=-32602')
    return items[0]
  })
  expect(found).toMatchObject({ sender: null, entryPoint: null, nonce: null })
  expect((await get('/refusals?method=eth_getUserOperationReceipt')).items).toEqual([])
})

test('a refused member of any name hides nothing from the overview', async () => {
  const { info } = purser()
  for (const name of ['\u0000', '\ud800'])
    await rpc(info.paymasterUrl, 'pm_sponsorUserOperation', [{}, { mode: 'SPONSORED', [name]: 1 }])
  await until(async () => {
    const { items } = await get('/refusals?method=pm_sponsorUserOperation')
    return items.length === 2
  })
  // It takes the data of all refusals apart.
  expect(Number((await get('/overview')).totals.refused)).toBeGreaterThanOrEqual(2)
})

test('a code is explained without a service', async () => {
  const known = await runCli(['explain', 'aa24'])
  expect(known.stdout).toContain('Sign last: later changes of paymaster or limits')
  const unknown = await runCli(['explain', 'AA00'])
  expect(unknown.code).toBe(1)
  expect(unknown.stderr).toMatch(/is no code of Purser/)
})
