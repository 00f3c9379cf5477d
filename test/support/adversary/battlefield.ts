import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  numberToHex,
  padHex,
  parseAbi,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { deployDevContracts } from '../../../src/cli/devnet/deployDevContracts.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { type Anvil, startAnvil } from '../../../src/cli/devnet/startAnvil.js'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import type { EntryPoint, Version } from '../../../src/erc4337/entryPoint.js'
import { versionFacts } from '../../../src/erc4337/versionFacts.js'
import type { Compiled } from '../chain/compileSolidity.js'
import { result } from '../http/jsonRpc.js'
import { silent } from '../logger.js'
import { commandsOn, labelled } from '../service/cliAnswers.js'
import { createTenant } from '../service/createTenant.js'
import { makeDataFolder, removeDataFolder, startService, urlOf } from '../service/startPurser.js'
import { until } from '../until.js'
import { hostile, hostileDelegate, hostileFactory } from './hostile.js'

const CHAIN_ID = 31_337
const OPERATOR_TOKEN = 'operator-token-of-the-battlefield'
const EXECUTORS = [5, 6]
/** anvil's accounts that the adversary has; the node signs for them. */
const ATTACKERS = [1, 2, 3]

const abi = parseAbi([
  'function depositTo(address account) payable',
  'function addStake(uint32 delay) payable',
])

export type Battlefield = Awaited<ReturnType<typeof openBattlefield>>

/**
 * A chain of one block a second with every EntryPoint, and `purser serve` on it as its operator runs it: two
 * apps, of which the honest one has a tank for each version. The adversary has a factory, delegates, two paymasters
 * with deposits, keys of both apps, and three accounts of the chain.
 */
export async function openBattlefield() {
  const folder = makeDataFolder()
  const anvil = await startAnvil({ chainId: CHAIN_ID, blockTime: 1, logger: silent })
  try {
    return await prepare(folder, anvil)
  } catch (error) {
    await anvil.stop()
    removeDataFolder(folder)
    throw error
  }
}

async function prepare(folder: string, anvil: Anvil) {
  const { rpcUrl } = anvil
  const deployed = await deployDevContracts(rpcUrl)
  const entryPoints = Object.entries(deployed.entryPoints).map(([version, address]) =>
    createEntryPoint(version as Version, address),
  )
  const request = (method: string, ...params: unknown[]) => result(rpcUrl, method, params)
  const attackers = ATTACKERS.map((index) => privateKeyToAddress(devKey(index)))
  const transact = (from: Address, transaction: Readonly<Record<string, unknown>>): Promise<Hex> =>
    request('eth_sendTransaction', { from, gas: numberToHex(3_000_000), ...transaction })
  const mined = (hash: Hex) => until(() => request('eth_getTransactionReceipt', hash))

  const create = async ({ bytecode }: Compiled, argument: Hex = '0x'): Promise<Address> => {
    const data = concatHex([bytecode, argument])
    return (await mined(await transact(attackers[0]!, { data }))).contractAddress
  }
  const factory = await create(hostileFactory)
  const paymasters = [await create(hostile), await create(hostile)]
  for (const paymaster of paymasters) {
    for (const { address } of entryPoints) {
      const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [paymaster] })
      await transact(attackers[0]!, { to: address, data, value: numberToHex(10n ** 19n) })
    }
  }

  const delegates = new Map<EntryPoint, Address>()
  for (const entryPoint of entryPoints)
    if (versionFacts[entryPoint.version].carriesAuthorization)
      delegates.set(entryPoint, await create(hostileDelegate, padHex(entryPoint.address)))

  const tenant = await createTenant(folder, 'honest')
  const other = await createTenant(folder, 'adversary')
  const secrets = {
    PURSER_CONFIG: join(folder, 'purser.json'),
    PURSER_OPERATOR_TOKEN: OPERATOR_TOKEN,
    OWNER_KEY: devKey(0),
  }
  const chain = {
    chainId: CHAIN_ID,
    rpcUrls: [rpcUrl],
    entryPoints: entryPoints.map(({ version, address }) => ({ version, address })),
    executorKeys: EXECUTORS.map(devKey),
    facts: { pollInterval: 100 },
    minimumStake: (10n ** 18n).toString(),
  }
  const config = { chains: [chain], port: 0, logLevel: 'warn' }
  writeFileSync(secrets.PURSER_CONFIG, JSON.stringify(config))
  const service = await startService(['serve', '--data', folder, '--drain-seconds', '0'], secrets)
  const { answer } = commandsOn(folder, secrets)
  const tanks: Partial<Record<Version, Address>> = {}
  for (const { version } of entryPoints) {
    const where = ['--app', tenant.appId, '--chain', String(CHAIN_ID), '--entry-point', version]
    const made = await answer(
      'tank',
      'deposit',
      ...where,
      '--amount',
      '50',
      '--key',
      'env:OWNER_KEY',
    )
    tanks[version] = labelled(made, 'tank').toLowerCase() as Address
  }

  const url = urlOf(service)
  const pathOf = (version: string, apiKey: string) => `${url}/api/${version}/${CHAIN_ID}/${apiKey}`
  const info: DevInfo = {
    url,
    chainId: CHAIN_ID,
    rpcUrl,
    bundlerUrl: pathOf('v2', tenant.apiKey),
    paymasterUrl: pathOf('v2', tenant.apiKey),
    standardUrl: pathOf('v3', tenant.apiKey),
    webhookApiUrl: url,
    authToken: tenant.authToken,
    apiKey: tenant.apiKey,
    entryPoints: deployed.entryPoints,
    factories: deployed.factories,
    delegates: deployed.delegates,
    tokens: [],
    tanks,
    tokenTanks: {},
    pid: service.process.pid!,
  }
  return {
    info,
    folder,
    entryPoints: entryPoints as readonly EntryPoint[],
    factory,
    paymasters,
    /** Code for accounts of EIP-7702, for each EntryPoint whose operations carry authorizations. */
    delegates: delegates as ReadonlyMap<EntryPoint, Address>,
    attackers,
    executors: EXECUTORS.map((index) => privateKeyToAddress(devKey(index))),
    /** Of the adversary's own app, which has no tank. */
    hostileUrl: pathOf('v3', other.apiKey),
    /** What the service wrote for its operator. */
    output: service.output,
    request,
    transact,
    mined,
    metric: async (name: string): Promise<number> => {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
      const text = await (await fetch(`${url}/metrics`, { headers })).text()
      return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
    },
    async stop() {
      await service.end('SIGTERM')
      await anvil.stop()
      removeDataFolder(folder)
    },
  }
}
