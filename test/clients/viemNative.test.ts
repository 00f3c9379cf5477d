import { createTestClient, http, parseEther } from 'viem'
import { createBundlerClient, createPaymasterClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { TARGET } from '../support/service/devAccount.js'
import {
  authorizationOf,
  delegatedSmartAccount,
  nodeClient,
  simpleSmartAccount,
} from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

const purser = useRunningPurser()
function info() {
  return purser().info
}
let apiKey = ''
let appId = ''

function mine(blocks: number) {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(info().rpcUrl) }).mine({
    blocks,
  })
}

function commands() {
  return commandsOn(purser().dataFolder)
}
function tank(command: string, ...more: string[]) {
  return commands().answer(
    'tank',
    command,
    '--app',
    appId,
    '--chain',
    String(info().chainId),
    ...more,
  )
}
async function available() {
  return parseEther(labelled(await tank('show'), 'available').replace(' ETH', ''))
}

beforeAll(async () => {
  const tenant = await createTenant(purser().dataFolder, 'native')
  apiKey = tenant.apiKey
  appId = tenant.appId
  await tank('mode', '--mode', 'native')
  await tank('credit', '--amount', '2', '--reference', 'invoice 1')
})

/** A packed and an unpacked operation; between them lie the versions that answer alike. */
const kinds = [
  {
    name: 'SimpleAccount, EntryPoint v0.6',
    open: () => simpleSmartAccount(info(), '0.6', 'native'),
  },
  {
    name: 'Simple7702Account, EntryPoint v0.9',
    open: () => delegatedSmartAccount(info(), '0.9', 'native'),
  },
]

describe.each(kinds)('viem with an app in mode native, $name', ({ open }) => {
  test('asks for fees and gets 0, is sponsored, included, and charged to the credit', async () => {
    const transport = http(`${info().url}/api/v3/${info().chainId}/${apiKey}`)
    const paymaster = createPaymasterClient({ transport })
    const client = createBundlerClient({
      chain: foundry,
      client: nodeClient(info()),
      pollingInterval: 100,
      transport,
      paymaster,
    })
    const before = await available()
    const account = await open()
    const prepared = await client.prepareUserOperation({
      account,
      calls: [{ to: TARGET, data: '0x1234' }],
      ...(await authorizationOf(account)),
    })
    expect(BigInt(prepared.maxFeePerGas)).toBe(0n)
    expect(prepared).not.toHaveProperty('paymaster')
    const signature = await account.signUserOperation(prepared as never)
    const entryPointAddress = account.entryPoint.address
    const { account: _, ...operation } = prepared
    const hash = await client.sendUserOperation({
      ...operation,
      entryPointAddress,
      signature,
    } as never)
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt).toMatchObject({ success: true, actualGasCost: 0n })
    expect(await nodeClient(info()).getBalance({ address: account.address })).toBe(0n)
    const spent = receipt.actualGasUsed * receipt.receipt.effectiveGasPrice
    // What it might have cost stays locked until its block is final.
    expect(before - (await available())).toBeGreaterThanOrEqual(spent)
    await mine(65)
    await until(async () => before - (await available()) === spent)
  })
})
