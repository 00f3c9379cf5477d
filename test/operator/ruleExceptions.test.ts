import { type Address, type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { rpc } from '../support/http/jsonRpc.js'
import { receiptOf } from '../support/service/devAccount.js'
import { hostileAccount } from '../support/service/hostileAccount.js'
import { servedChain } from '../support/service/servedChain.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { runCli } from '../support/service/startPurser.js'

/** Code that reads the time of its block and answers validation with 0. */
const timed: Hex = '0x42505f5f5260205ff3'
const [past, coming] = ['2020-01-31T00:00:00Z', '2100-01-31T00:00:00Z']

let serving: Serving
beforeAll(async () => {
  serving = await prepareServing(1_533, async () => ({}))
})
afterAll(() => serving?.stop())

/** The configuration with an exception for `address` until this time; absent = none. */
function chainsWith(address?: Address, until?: string): { readonly PURSER_CHAINS: string } {
  const exception = { role: 'account', address, rules: ['OP-011'], reason: 'its oracle', until }
  const ruleExceptions = address ? [exception] : []
  return { PURSER_CHAINS: JSON.stringify([servedChain(serving.chain, { ruleExceptions })]) }
}

test('an account breaks a rule while the configuration says so, which start and check report', async () => {
  const { chain } = serving
  await serving.start(chainsWith())
  // The account's deposit is in storage only: the EntryPoint must have what it pays.
  const entryPoint = chain.entryPoints['0.6']
  await anvilClient(chain.rpcUrl).setBalance({ address: entryPoint, value: parseEther('1') })
  const { operation, sender } = await hostileAccount(serving.info(), 'timed', timed, '0x', '0.6')
  const send = async () => {
    const { bundlerUrl } = serving.info()
    return (await rpc(bundlerUrl, 'eth_sendUserOperation', [operation, entryPoint])).body
  }
  const refused = { error: { code: -32502, message: expect.stringContaining('TIMESTAMP') } }
  expect(await send()).toMatchObject(refused)

  const late = await serving.start(chainsWith(sender, past))
  expect(late.output()).toContain('an exception from ERC-7562 has ended')
  expect(await send()).toMatchObject(refused)

  const excepting = await serving.start(chainsWith(sender, coming))
  const text = `account ${sender} may break OP-011 until 2100-01-31T00:00:00.000Z: its oracle`
  expect(excepting.output()).toContain('an exception from ERC-7562 holds')
  expect(excepting.output()).toContain(text)
  const { result: hash } = await send()
  expect(await receiptOf(serving.info(), hash)).toMatchObject({ userOpHash: hash, sender })

  const check = async (until: string) => {
    const environment = { ...serving.environment, ...chainsWith(sender, until) }
    return (await runCli(['check', '--data', serving.folder], environment)).stdout
  }
  expect(await check(coming)).toContain(`ok     configuration 1533: ${text}`)
  expect(await check(past)).toMatch(
    /WARN +configuration 1533: .*could break.*remove it from ruleExceptions/,
  )
})
