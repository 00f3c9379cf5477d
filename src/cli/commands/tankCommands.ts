import type { Command } from 'commander'
import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { formatEther } from 'viem/utils'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import { createNodeClient } from '../../chain/nodeClient.js'
import type { Config } from '../../config/options.js'
import { toTokenDefinition } from '../../config/tokenSchema.js'
import { devKey, funderKey } from '../../devnet/devKeys.js'
import { createEntryPoint } from '../../entrypoint/createEntryPoint.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { DEFAULT_VERSION } from '../../entrypoint/versionFacts.js'
import { ConfigError } from '../../errors/configError.js'
import { createFunds, type FundState, type Funds } from '../../paymaster/funds.js'
import type { Runway } from '../../paymaster/runway.js'
import { createTanks, type Tank, type Tanks } from '../../paymaster/tanks.js'
import type { Database } from '../../store/database.js'
import type { FundMode, TankKind } from '../../store/schema.js'
import { createLogger } from '../createLogger.js'
import { devChainDefinition } from '../dev/devChainDefinition.js'
import { readDevChain } from '../dev/devChainRecord.js'
import type { Flags } from '../onStore.js'
import { withStore } from '../openStore.js'
import { configOf, withOptions } from '../optionFlags.js'
import {
  keyOfFlag,
  parseAddress,
  parseAmount,
  parseBound,
  parseDays,
  parseName,
} from '../parseFlags.js'
import { requireApp } from './accountCommands.js'

type Tools = {
  readonly tanks: Tanks
  readonly funds: Funds
  /** null = the operator's shared tank */
  readonly appId: string | null
  readonly entryPoint: EntryPoint
  /** Gives gas, or takes tokens for it. */
  readonly kind: TankKind
  /** The key that --key names; on the development chain the given one of anvil by default. */
  readonly keyOr: (development: Hex) => Hex
}

/** The part of a chain's definition that commands need; executors are not in it, as their keys may be elsewhere. */
export type TankChain = Pick<
  ChainDefinition,
  'chainId' | 'rpcUrls' | 'entryPoints' | 'tankFactory' | 'pollInterval' | 'tokens'
>

/** A configured chain, or the development chain of the data folder. */
export function chainOf(config: Config, chainIdText: string): { chain: TankChain; isDev: boolean } {
  const configured = config.chains.find(({ chainId }) => String(chainId) === chainIdText)
  if (configured)
    return {
      chain: { ...configured, tokens: configured.tokens.map(toTokenDefinition) },
      isDev: false,
    }
  const dev = readDevChain(config.data)
  if (dev && String(dev.chainId) === chainIdText)
    return { chain: devChainDefinition(dev), isDev: true }
  const knownIds = [...config.chains, ...(dev ? [dev] : [])].map(({ chainId }) => chainId)
  throw new ConfigError(
    `Chain ${chainIdText} is not configured; known: ${knownIds.join(', ') || 'none'}.`,
  )
}

async function withTanks(flags: Flags, run: (tools: Tools) => Promise<void>): Promise<void> {
  const config = configOf(flags)
  const logger = createLogger('error')
  const { chain, isDev } = chainOf(config, flags.chain ?? '')
  const version = flags.entryPoint ?? DEFAULT_VERSION
  const configured = chain.entryPoints.find((each) => each.version === version)
  if (!configured)
    throw new ConfigError(`Chain ${chain.chainId} has no EntryPoint ${version} configured.`)
  await withStore(config, logger, async ({ database, masterKey }) => {
    const appId = await ownerOf(database, flags)
    const node = createNodeClient({ urls: chain.rpcUrls, logger })
    try {
      await run({
        tanks: createTanks({ database, masterKey, node, definition: chain }),
        funds: createFunds({ database, chainId: chain.chainId }),
        appId,
        kind: parseKind(flags.kind),
        entryPoint: createEntryPoint(configured.version, configured.address),
        keyOr: (development) => {
          if (flags.key !== undefined) return keyOfFlag(flags.key)
          if (isDev) return development
          throw new ConfigError('--key is required: a private key, env:NAME or file:PATH.')
        },
      })
    } finally {
      await node.close()
    }
  })
}

/** The app whose tank the flags mean; null = the tank that apps with credit share. */
async function ownerOf(database: Database, flags: Flags): Promise<string | null> {
  if ((flags.app !== undefined) === (flags.shared !== undefined))
    throw new ConfigError('Give either --app, or --shared for the tank of apps with credit.')
  return flags.app === undefined ? null : (await requireApp(database, flags.app)).id
}

function ether(wei: bigint): string {
  return `${formatEther(wei)} ETH`
}

function daysText({ daily, days }: Runway): string {
  return days === undefined
    ? 'nothing was spent in the last 7 days'
    : `${days} days at ${ether(daily)} a day`
}

function showFund({ mode, alarm, credit }: FundState): void {
  const bounds = [
    ...(alarm.wei > 0n ? [ether(alarm.wei)] : []),
    ...(alarm.days > 0 ? [`${alarm.days} days`] : []),
  ]
  console.log(`mode      ${mode}`)
  if (mode !== 'tank' || credit.balance !== 0n) {
    console.log(`credit    ${ether(credit.balance)}`)
    console.log(`locked    ${ether(credit.locked)}`)
    console.log(`available ${ether(credit.available)}`)
    console.log(`runway    ${daysText(credit.runway)}`)
  }
  console.log(`alarm     ${bounds.length > 0 ? `below ${bounds.join(' or ')}` : 'off'}`)
}

/** Makes the tank where it is missing, on the chain too. Returns it, and the key that pays. */
async function makeTank(
  { tanks, appId, entryPoint, kind, keyOr }: Tools,
  flags: Flags,
): Promise<{ tank: Tank; key: Hex }> {
  const key = keyOr(funderKey)
  const owner = parseAddress('--owner', flags.owner ?? privateKeyToAddress(key))
  const tank = await tanks.ensure(appId, entryPoint, owner, kind)
  await tanks.deploy(tank, entryPoint, key)
  return { tank, key }
}

async function show({ tanks, funds, appId, entryPoint, kind }: Tools): Promise<void> {
  const fund = appId === null || kind === 'token' ? undefined : await funds.show(appId)
  if (fund !== undefined) showFund(fund)
  const state = await tanks.show(appId, entryPoint, kind)
  if (!state) {
    if (fund !== undefined && fund.mode !== 'tank') return
    console.log('There is no tank here yet; `purser tank deposit` makes one.')
    return
  }
  console.log(`tank      ${state.address}${state.deployed ? '' : ' (not deployed yet)'}`)
  console.log(`deposit   ${ether(state.deposit)}`)
  console.log(`reserved  ${ether(state.locked)}`)
  console.log(`lasts     ${daysText(state.runway)}${state.isLow ? ' (low)' : ''}`)
  console.log(`owner     ${state.owner}`)
  console.log(`signer    ${state.signer}`)
}

function parseKind(text = 'gas'): TankKind {
  if (text === 'gas' || text === 'token') return text
  throw new ConfigError('--kind must be gas or token.')
}

const modes: readonly FundMode[] = ['tank', 'shared', 'native']

function parseMode(text = ''): FundMode {
  const mode = modes.find((each) => each === text)
  if (mode === undefined) throw new ConfigError(`The mode must be one of ${modes.join(', ')}.`)
  return mode
}

/** Credit and mode are an app's. */
function requireAppId({ appId }: Tools): string {
  if (appId === null) throw new ConfigError("--app is required: credit and mode are an app's.")
  return appId
}

/** `purser tank create|deposit|withdraw|show|mode|credit|alarm` */
export function defineTankCommand(tank: Command): void {
  const add = (name: string, description: string) =>
    withOptions(
      tank
        .command(name)
        .description(description)
        .option('--app <id>', 'whose tank')
        .option('--shared', "the operator's tank, which pays for apps with credit")
        .requiredOption('--chain <id>', 'chain id')
        .option('--entry-point <version>', `version of the EntryPoint, default ${DEFAULT_VERSION}`)
        .option('--kind <kind>', 'gas: gives it (default); token: takes tokens for it'),
      ['data', 'databaseUrl', 'masterKey', 'chains'],
    )
  add('show', 'address, deposit, owner and signer').action((flags: Flags) => withTanks(flags, show))

  add('create', 'make the tank and put it on the chain; what exists stays')
    .option('--key <key>', 'private key that pays for it, env:NAME or file:PATH')
    .option('--owner <address>', 'who may withdraw; default: who pays')
    .action((flags: Flags) =>
      withTanks(flags, async (tools) => {
        await makeTank(tools, flags)
        await show(tools)
      }),
    )

  add('deposit', 'fill the tank; makes and deploys it when there is none')
    .requiredOption('--amount <ether>', 'how much, in ether')
    .option('--key <key>', 'private key that pays, env:NAME or file:PATH')
    .option('--owner <address>', 'who may withdraw from a new tank; default: who pays')
    .action((flags: Flags) => {
      const wei = parseAmount(flags.amount)
      return withTanks(flags, async (tools) => {
        const { tank, key } = await makeTank(tools, flags)
        await tools.tanks.deposit(tank, wei, key)
        await show(tools)
      })
    })

  add('withdraw', 'take from the tank; only its owner can')
    .requiredOption('--amount <ether>', 'how much, in ether')
    .option('--key <key>', "the owner's private key, env:NAME or file:PATH")
    .option('--to <address>', 'who receives it; default: the owner')
    .option('--reserved', 'also what signed sponsorships may still take, which then fail')
    .action((flags: Flags) => {
      const wei = parseAmount(flags.amount)
      return withTanks(flags, async (tools) => {
        const { tanks, appId, entryPoint, kind, keyOr } = tools
        const key = keyOr(devKey(0))
        const to = parseAddress('--to', flags.to ?? privateKeyToAddress(key))
        const state = await tanks.show(appId, entryPoint, kind)
        if (!state) throw new ConfigError('There is no tank here.')
        const kept = flags.reserved === undefined ? state.locked : 0n
        await tanks.withdraw(state, to, wei, kept, key)
        await show(tools)
      })
    })

  add('mode', 'what pays for an app: its own tank, the shared one, or no paymaster at all')
    .requiredOption('--mode <mode>', modes.join(', '))
    .action((flags: Flags) => {
      const mode = parseMode(flags.mode)
      return withTanks(flags, async (tools) =>
        showFund(await tools.funds.setMode(requireAppId(tools), mode)),
      )
    })

  add('credit', 'give an app credit for modes shared and native, or take it back')
    .requiredOption('--amount <ether>', 'how much, in ether; negative to take it back')
    .requiredOption('--reference <text>', 'what it is for, an invoice say; counts once')
    .action((flags: Flags) => {
      const isTaken = flags.amount?.startsWith('-') === true
      const wei = parseAmount(isTaken ? flags.amount?.slice(1) : flags.amount)
      const reference = parseName(flags.reference, '--reference')
      return withTanks(flags, async (tools) =>
        showFund(await tools.funds.credit(requireAppId(tools), isTaken ? -wei : wei, reference)),
      )
    })

  add('alarm', 'when an app runs low: below an amount, or below days that it lasts; 0 = never')
    .option('--below <ether>', 'amount in ether')
    .option('--days <number>', 'days at the pace of the last week')
    .action((flags: Flags) => {
      const wei = flags.below === undefined ? undefined : parseBound(flags.below)
      const days = flags.days === undefined ? undefined : parseDays(flags.days)
      return withTanks(flags, async (tools) =>
        showFund(
          await tools.funds.setAlarm(requireAppId(tools), {
            ...(wei !== undefined && { wei }),
            ...(days !== undefined && { days }),
          }),
        ),
      )
    })
}
