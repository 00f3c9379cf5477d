import { createPublicClient, getAddress, http, parseEther } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  toSimple7702SmartAccount,
} from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signAuthorization } from 'viem/actions'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { canonicalAddresses } from '../../src/erc4337/canonicalAddresses.js'
import { versions } from '../../src/erc4337/versionFacts.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useChain } from '../support/chain/useChain.js'
import { result } from '../support/http/jsonRpc.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'

/** A chain with every canonical EntryPoint, and one with v0.6 alone. */
const full = useChain()
let single: PublicChain
let folder = ''
let service: RunningService
let environment: Record<string, string> = {}
let tenant: { readonly appId: string; readonly apiKey: string }

beforeAll(async () => {
  folder = makeDataFolder()
  single = await startPublicChain(1_521)
  // As docs/operate/configuration.md begins: chain id, nodes and executor keys, nothing else.
  const chains = [
    { chainId: 31_337, rpcUrls: [full().rpcUrl], executorKeys: ['env:EXECUTOR'] },
    { chainId: single.chainId, rpcUrls: [single.rpcUrl], executorKeys: ['env:EXECUTOR'] },
  ]
  environment = {
    PURSER_CHAINS: JSON.stringify(chains),
    EXECUTOR: devKey(1),
    PAYER: devKey(3),
  }
  const flags = ['--data', folder, '--port', '0', '--drain-seconds', '0', '--log-level', 'warn']
  service = await startService(['serve', ...flags], environment)
  tenant = await commandsOn(folder, environment).tenant('production')
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await single.stop()
  removeDataFolder(folder)
})

function urlFor(chainId: number): string {
  return `${urlOf(service)}/api/v3/${chainId}/${tenant.apiKey}`
}

describe('a chain without entryPoints in its configuration', () => {
  test('serves every canonical EntryPoint that has code there, and no other', async () => {
    expect(await result(urlFor(31_337), 'eth_supportedEntryPoints', [])).toEqual(
      versions.map((version) => getAddress(canonicalAddresses[version])),
    )
    expect(await result(urlFor(single.chainId), 'eth_supportedEntryPoints', [])).toEqual([
      getAddress(canonicalAddresses['0.6']),
    ])
  })

  test('commands ask which one is meant where there are several, and show all of them', async () => {
    const { answer, refusal } = commandsOn(folder, environment)
    const filling = ['--app', tenant.appId, '--amount', '1', '--key', 'env:PAYER']
    const several = [...filling, '--chain', '31337']
    expect(await refusal('tank', 'deposit', ...several)).toMatch(
      /EntryPoints 0\.6, 0\.7, 0\.8, 0\.9: say which one by --entry-point/,
    )
    expect(await refusal('tank', 'deposit', ...several, '--entry-point', '0.5')).toMatch(
      /no EntryPoint 0\.5; it has 0\.6, 0\.7/,
    )
    const tanks = []
    for (const version of ['0.7', '0.8'] as const)
      tanks.push(
        labelled(await answer('tank', 'deposit', ...several, '--entry-point', version), 'tank'),
      )
    const shown = await answer('tank', 'show', '--app', tenant.appId, '--chain', '31337')
    for (const tank of tanks) expect(shown).toContain(tank)
    const alone = await answer('tank', 'deposit', ...filling, '--chain', String(single.chainId))
    expect(labelled(alone, 'deposit')).toBe('1 ETH')
  })

  test("the README's own client is sponsored there", async () => {
    const client = createPublicClient({ chain: foundry, transport: http(full().rpcUrl) })
    const owner = privateKeyToAccount(generatePrivateKey())
    const account = await toSimple7702SmartAccount({ client, owner })
    const transport = http(urlFor(31_337))
    const bundler = createBundlerClient({
      client,
      transport,
      paymaster: createPaymasterClient({ transport }),
      pollingInterval: 200,
    })
    const hash = await bundler.sendUserOperation({
      account,
      authorization: await signAuthorization(client, account.authorization),
      calls: [{ to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' }],
    })
    const { success } = await bundler.waitForUserOperationReceipt({ hash })
    expect(success).toBe(true)
    expect(await client.getBalance({ address: owner.address })).toBeLessThan(parseEther('1'))
  })
})
