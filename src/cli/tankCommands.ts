import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { type Address, formatEther, type Hex, isAddress, parseEther } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { ChainDefinition } from '../chain/definition.js'
import { createNodeClient } from '../chain/nodeClient.js'
import type { Config } from '../config/options.js'
import { resolveChains } from '../config/resolveChains.js'
import { devKey, FUNDER_KEY } from '../devnet/devKeys.js'
import type { EntryPoint, Version } from '../entrypoint/entryPoint.js'
import { createEntryPoint } from '../entrypoint/index.js'
import { ConfigError } from '../errors/configError.js'
import { createTanks, type Tanks } from '../paymaster/tanks.js'
import { findApp } from '../store/apps.js'
import { createLogger } from './createLogger.js'
import { devChainDefinition } from './devChain.js'
import type { DevInfo } from './devInfo.js'
import { withStore } from './openStore.js'
import { configOf, withOptions } from './optionFlags.js'

type Flags = Record<string, string | undefined>

type Tools = {
  readonly tanks: Tanks
  readonly appId: string
  readonly entryPoint: EntryPoint
  /** The key that --key names; on the development chain the given one of anvil by default. */
  readonly keyOr: (development: Hex) => Hex
}

const readDevInfo = ({ data }: Config): DevInfo | undefined => {
  const file = join(data, 'dev.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DevInfo) : undefined
}

/** A configured chain, or the development chain of the data folder. */
const chainOf = (config: Config, asked: string): { definition: ChainDefinition; dev: boolean } => {
  const configured = resolveChains(config.chains, process.env)
  const definition = configured.find(({ chainId }) => String(chainId) === asked)
  if (definition) return { definition, dev: false }
  const info = readDevInfo(config)
  if (info && String(info.chainId) === asked)
    return { definition: devChainDefinition(info), dev: true }
  const known = [...configured.map(({ chainId }) => chainId), ...(info ? [info.chainId] : [])]
  throw new ConfigError(`Chain ${asked} is not configured; known: ${known.join(', ') || 'none'}.`)
}

const parseKey = (given: string): Hex => {
  const text = given.startsWith('env:') ? (process.env[given.slice(4)] ?? '') : given
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text as Hex
  throw new ConfigError('--key must be a private key (0x and 64 hex digits) or env:NAME.')
}

const parseAmount = ({ amount = '' }: Flags): bigint => {
  if (!/^\d{1,12}(\.\d{1,18})?$/.test(amount) || parseEther(amount) === 0n)
    throw new ConfigError('--amount must be a positive number of ether, e.g. 0.5.')
  return parseEther(amount)
}

const withTanks = async (flags: Flags, run: (tools: Tools) => Promise<void>): Promise<void> => {
  const config = configOf(flags)
  const logger = createLogger('error')
  const { definition, dev } = chainOf(config, flags.chain ?? '')
  const version = (flags.entryPoint ?? '0.6') as Version
  const configured = definition.entryPoints.find((each) => each.version === version)
  if (!configured)
    throw new ConfigError(`Chain ${definition.chainId} has no EntryPoint ${version} configured.`)
  await withStore(config, logger, async ({ database, masterKey }) => {
    const app = await findApp(database, flags.app ?? '')
    if (!app) throw new ConfigError(`There is no live app ${flags.app}; see \`purser app list\`.`)
    const node = createNodeClient({ urls: definition.rpcUrls, logger })
    try {
      await run({
        tanks: createTanks({ database, masterKey, node, definition }),
        appId: app.id,
        entryPoint: createEntryPoint(version, configured.address),
        keyOr: (development) => {
          if (flags.key !== undefined) return parseKey(flags.key)
          if (dev) return development
          throw new ConfigError('--key is required: a private key or env:NAME.')
        },
      })
    } finally {
      await node.close()
    }
  })
}

const show = async ({ tanks, appId, entryPoint }: Tools): Promise<void> => {
  const state = await tanks.show(appId, entryPoint)
  if (!state) {
    console.log('The app has no tank here yet; `purser tank deposit` makes one.')
    return
  }
  console.log(`tank      ${state.address}${state.deployed ? '' : ' (not deployed yet)'}`)
  console.log(`deposit   ${formatEther(state.deposit)} ETH`)
  console.log(`owner     ${state.owner}`)
  console.log(`signer    ${state.signer}`)
}

/** `purser tank deposit|withdraw|show` */
export const registerTankCommands = (program: Command): void => {
  const tank = program.command('tank').description("an app's gas tank: its deposit for sponsorship")
  const add = (name: string, description: string) =>
    withOptions(
      tank
        .command(name)
        .description(description)
        .requiredOption('--app <id>', 'whose tank')
        .requiredOption('--chain <id>', 'chain id')
        .option('--entry-point <version>', 'version of the EntryPoint, default 0.6'),
      ['data', 'databaseUrl', 'masterKey', 'chains'],
    )
  add('show', 'address, deposit, owner and signer').action((flags: Flags) => withTanks(flags, show))

  add('deposit', 'fill the tank; makes and deploys it when there is none')
    .requiredOption('--amount <ether>', 'how much, in ether')
    .option('--key <key>', 'private key that pays, or env:NAME')
    .option('--owner <address>', 'who may withdraw from a new tank; default: who pays')
    .action((flags: Flags) => {
      const wei = parseAmount(flags)
      return withTanks(flags, async (tools) => {
        const { tanks, appId, entryPoint, keyOr } = tools
        const key = keyOr(FUNDER_KEY)
        const owner = flags.owner ?? privateKeyToAddress(key)
        if (!isAddress(owner)) throw new ConfigError('--owner must be an address.')
        const made = await tanks.ensure(appId, entryPoint, owner.toLowerCase() as Address)
        await tanks.deploy(made, entryPoint, key)
        await tanks.deposit(made, wei, key)
        await show(tools)
      })
    })

  add('withdraw', 'take from the tank; only its owner can')
    .requiredOption('--amount <ether>', 'how much, in ether')
    .option('--key <key>', "the owner's private key, or env:NAME")
    .option('--to <address>', 'who receives it; default: the owner')
    .action((flags: Flags) => {
      const wei = parseAmount(flags)
      return withTanks(flags, async (tools) => {
        const { tanks, appId, entryPoint, keyOr } = tools
        const key = keyOr(devKey(0))
        const to = flags.to ?? privateKeyToAddress(key)
        if (!isAddress(to)) throw new ConfigError('--to must be an address.')
        const state = await tanks.show(appId, entryPoint)
        if (!state) throw new ConfigError('The app has no tank here.')
        await tanks.withdraw(state, to.toLowerCase() as Address, wei, key)
        await show(tools)
      })
    })
}
