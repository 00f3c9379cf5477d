import type { Command } from 'commander'
import { formatEther, type Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { ChainDefinition } from '../chain/definition.js'
import { createNodeClient } from '../chain/nodeClient.js'
import type { Config } from '../config/options.js'
import { devKey, FUNDER_KEY } from '../devnet/devKeys.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { createEntryPoint } from '../entrypoint/index.js'
import { ConfigError } from '../errors/configError.js'
import { createTanks, type Tanks } from '../paymaster/tanks.js'
import { requireApp } from './accountCommands.js'
import { createLogger } from './createLogger.js'
import { devChainDefinition } from './devChain.js'
import { readDevChain } from './devChainRecord.js'
import { withStore } from './openStore.js'
import { configOf, withOptions } from './optionFlags.js'
import { parseAddress, parseAmount, parseKey } from './parseFlags.js'
import type { Flags } from './storeCommand.js'

type Tools = {
  readonly tanks: Tanks
  readonly appId: string
  readonly entryPoint: EntryPoint
  /** The key that --key names; on the development chain the given one of anvil by default. */
  readonly keyOr: (development: Hex) => Hex
}

/** What a command needs to know of a chain; executors, whose keys may be elsewhere, are not of it. */
type TankChain = Pick<
  ChainDefinition,
  'chainId' | 'rpcUrls' | 'entryPoints' | 'tankFactory' | 'pollInterval'
>

/** A configured chain, or the development chain of the data folder. */
const chainOf = (config: Config, asked: string): { chain: TankChain; isDev: boolean } => {
  const configured = config.chains.find(({ chainId }) => String(chainId) === asked)
  if (configured) return { chain: configured, isDev: false }
  const dev = readDevChain(config.data)
  if (dev && String(dev.chainId) === asked) return { chain: devChainDefinition(dev), isDev: true }
  const known = [...config.chains, ...(dev ? [dev] : [])].map(({ chainId }) => chainId)
  throw new ConfigError(`Chain ${asked} is not configured; known: ${known.join(', ') || 'none'}.`)
}

const withTanks = async (flags: Flags, run: (tools: Tools) => Promise<void>): Promise<void> => {
  const config = configOf(flags)
  const logger = createLogger('error')
  const { chain, isDev } = chainOf(config, flags.chain ?? '')
  const version = flags.entryPoint ?? '0.6'
  const configured = chain.entryPoints.find((each) => each.version === version)
  if (!configured)
    throw new ConfigError(`Chain ${chain.chainId} has no EntryPoint ${version} configured.`)
  await withStore(config, logger, async ({ database, masterKey }) => {
    const app = await requireApp(database, flags.app)
    const node = createNodeClient({ urls: chain.rpcUrls, logger })
    try {
      await run({
        tanks: createTanks({ database, masterKey, node, definition: chain }),
        appId: app.id,
        entryPoint: createEntryPoint(configured.version, configured.address),
        keyOr: (development) => {
          if (flags.key !== undefined) return parseKey(flags.key, process.env)
          if (isDev) return development
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
      const wei = parseAmount(flags.amount)
      return withTanks(flags, async (tools) => {
        const { tanks, appId, entryPoint, keyOr } = tools
        const key = keyOr(FUNDER_KEY)
        const owner = parseAddress('--owner', flags.owner ?? privateKeyToAddress(key))
        const made = await tanks.ensure(appId, entryPoint, owner)
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
      const wei = parseAmount(flags.amount)
      return withTanks(flags, async (tools) => {
        const { tanks, appId, entryPoint, keyOr } = tools
        const key = keyOr(devKey(0))
        const to = parseAddress('--to', flags.to ?? privateKeyToAddress(key))
        const state = await tanks.show(appId, entryPoint)
        if (!state) throw new ConfigError('The app has no tank here.')
        await tanks.withdraw(state, to, wei, key)
        await show(tools)
      })
    })
}
