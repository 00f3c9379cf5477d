import { join } from 'node:path'
import type { Command } from 'commander'
import { createNodeClient } from '../../chain/nodeClient.js'
import type { Config } from '../../config/options.js'
import type { TankKind } from '../../paymaster/ledger/tanks.js'
import { createTanks } from '../../paymaster/tanks.js'
import { createLogger } from '../createLogger.js'
import { devCredentials, devUser, fundDevTanks, writeDevInfo } from '../dev/bootstrap.js'
import { readableLine } from '../dev/readableLine.js'
import { DEV_CHAIN_ID, DEV_NATIVE_USD, type DevInfo } from '../devInfo.js'
import { loadedOf, serviceOptions, withOptions } from '../optionFlags.js'
import { type RunningService, serve } from '../serve.js'

/** The text that a newcomer copies from first. */
function welcome(info: DevInfo, file: string, consoleUrl: string | undefined): string {
  return `
Purser is ready.

  bundler     ${info.bundlerUrl}
  paymaster   ${info.paymasterUrl}
  standard    ${info.standardUrl}
  webhooks    ${info.webhookApiUrl}/api/v2/public/sdk/webhook
  chain       ${info.chainId} at ${info.rpcUrl}
  apiKey      ${info.apiKey}
  authToken   ${info.authToken}
  entryPoints ${Object.keys(info.entryPoints)
    .map((version) => `v${version}`)
    .join(', ')}
  tokens      ${info.tokens.map(({ symbol, address }) => `${symbol} ${address}`).join(', ')}

${consoleUrl === undefined ? '' : `The console, signed in (once, within 30 minutes, on this machine):\n\n  ${consoleUrl}\n\n`}All of it is in ${file}. Try:

  curl -s ${info.bundlerUrl} -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_supportedEntryPoints","params":[]}'

and in another terminal: purser demo (npm run demo in a clone)
`
}

/** The code of this contract package is loaded only where it is asked for. */
function biconomyContracts() {
  return import('../devnet/biconomyContracts.js')
}

async function placeAccounts({ devChain }: RunningService): Promise<void> {
  if (devChain === undefined) throw new Error('purser dev always has a development chain')
  await (await biconomyContracts()).placeBiconomyContracts(devChain.rpcUrl)
}

async function prepare(
  { store, devChain, server }: RunningService,
  data: string,
  publicUrl: string | undefined,
): Promise<{ readonly info: DevInfo; readonly consoleUrl: string | undefined }> {
  if (devChain === undefined) throw new Error('purser dev always has a development chain')
  const { database, masterKey } = store
  const { rpcUrl, contracts, definition } = devChain
  const { chainId } = definition
  const { authToken, apiKey, appId } = await devCredentials(database, data)
  const openConsole = async (): Promise<string | undefined> => {
    const { hostname } = new URL(server.adminUrl)
    // A link that signs in is for this machine: a service that others reach has users with passwords.
    if (!/^(127\.[\d.]+|\[::1\])$/.test(hostname)) return undefined
    const userId = await devUser(database, appId)
    const token = server.offerSignIn({ userId, credentials: { apiKey, authToken } })
    return `${server.adminUrl}/console/sign-in#${token}`
  }
  const node = createNodeClient({ urls: [rpcUrl], logger: createLogger('error') })
  try {
    const tanks = createTanks({ database, masterKey, node, definition })
    const url = publicUrl?.replace(/\/$/, '') ?? server.url
    const fund = (kind: TankKind) => fundDevTanks(tanks, appId, contracts.entryPoints, kind)
    const [gasTanks, tokenTanks] = await Promise.all([fund('gas'), fund('token')])
    const info: DevInfo = {
      url,
      chainId,
      rpcUrl,
      bundlerUrl: `${url}/api/v2/${chainId}/${apiKey}`,
      paymasterUrl: `${url}/api/v1/${chainId}/${apiKey}`,
      standardUrl: `${url}/api/v3/${chainId}/${apiKey}`,
      webhookApiUrl: url,
      authToken,
      apiKey,
      entryPoints: contracts.entryPoints,
      factories: contracts.factories,
      delegates: contracts.delegates,
      tokens: contracts.tokens,
      tanks: gasTanks,
      tokenTanks,
      pid: process.pid,
    }
    writeDevInfo(data, info)
    return { info, consoleUrl: await openConsole() }
  } finally {
    await node.close()
  }
}

/** `purser dev` */
export function defineDevCommand(command: Command): void {
  withOptions(command, [...serviceOptions, 'publicUrl', 'rpcUrl', 'forkUrl'])
  command.option(
    '--biconomy',
    'also place the account contracts that @biconomy/account 4.x expects',
  )
  command.option('--log-json', 'log JSON on a terminal too, where the default is readable lines')
  command.action(async (flags: Record<string, unknown>) => {
    // The file of a service in the same folder, as the README makes one, is not meant for this one.
    const loaded = loadedOf(flags, { isFileNamed: true })
    // One process for one developer: it has both roles, and nobody directs traffic to another one.
    const role: Config['role'] = ['api', 'bundler']
    const { nativePrices } = loaded.config
    const config: Config = {
      ...loaded.config,
      role,
      drainSeconds: 0,
      // The price of ether in the test tokens, so that USD budgets work and the console shows amounts in USD.
      nativePrices: { [DEV_CHAIN_ID]: DEV_NATIVE_USD, ...nativePrices },
    }
    // Before a chain and a database are started.
    if (flags.biconomy === true) (await biconomyContracts()).requireBiconomyPackage()
    const isRead = process.stderr.isTTY === true && flags.logJson !== true
    const announce = async (service: RunningService) => {
      if (flags.biconomy === true) await placeAccounts(service)
      const { info, consoleUrl } = await prepare(service, config.data, config.publicUrl)
      console.log(welcome(info, join(config.data, 'dev.json'), consoleUrl))
    }
    await serve({ ...loaded, config }, true, announce, isRead ? { writeLine: readableLine } : {})
  })
}
