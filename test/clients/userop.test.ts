import { providers, Wallet } from 'ethers'
import { Client, Presets } from 'userop'
import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { TARGET } from '../support/service/devAccount.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/* A user of Stackup who changes the URL: userop.js as it is, with one URL for chain, bundler and paymaster. */

const info = usePurser()

async function clientOf() {
  const client = await Client.init(info().standardUrl)
  client.waitIntervalMs = 100
  return client
}

function accountOf(seed: string, options = {}) {
  const owner = new Wallet(keyFromSeed(`userop ${seed}`))
  return Presets.Builder.SimpleAccount.init(owner, info().standardUrl, options)
}

test('userop.js pays for itself, the first operation creating the account', async () => {
  const [client, account] = [await clientOf(), await accountOf('self-paid')]
  await fund(info(), account.getSender() as Address)
  for (const _ of ['creating', 'created']) {
    const { wait } = await client.sendUserOperation(account.execute(TARGET, 0, '0x1234'))
    const event = await wait()
    expect(event?.args.success).toBe(true)
    expect(event?.args.sender).toBe(account.getSender())
  }
})

test('userop.js is sponsored by the middleware of Stackup', async () => {
  const client = await clientOf()
  const paymasterMiddleware = Presets.Middleware.verifyingPaymaster(info().standardUrl, {
    type: 'payg',
  })
  const account = await accountOf('sponsored', { paymasterMiddleware })
  const { wait } = await client.sendUserOperation(account.execute(TARGET, 0, '0x1234'))
  const event = await wait()
  expect(event?.args.success).toBe(true)
  expect(event?.args.paymaster.toLowerCase()).toBe(info().tanks['0.6'])
  expect(await nodeClient(info()).getBalance({ address: account.getSender() as Address })).toBe(0n)
})

test('the paymasters that userop.js may ask for are the tanks', async () => {
  const provider = new providers.JsonRpcProvider(info().standardUrl)
  const tanks: string[] = await provider.send('pm_accounts', [info().entryPoints['0.6']])
  expect(tanks.map((tank) => tank.toLowerCase())).toEqual([
    info().tanks['0.6'],
    info().tokenTanks['0.6'],
  ])
})
