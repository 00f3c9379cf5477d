import type { Command } from 'commander'
import type { Hex } from 'viem'
import { sum } from '../../base/bigints.js'
import { ConfigError } from '../../base/errors/configError.js'
import type { ExecutorSigner } from '../../chain/signing/executorTransaction.js'
import type { Database } from '../../db/database.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import { type FundState, fundRoutes, readFunds } from '../../paymaster/funds.js'
import type { TankKind } from '../../paymaster/ledger/tanks.js'
import type { Runway } from '../../paymaster/runway.js'
import { createTanks, type Tank, type Tanks } from '../../paymaster/tanks.js'
import { listUnbooked, type Unbooked } from '../../records/unbooked.js'
import type { App } from '../../tenants/apps.js'
import { audited } from '../../tenants/audit.js'
import { auditMoney } from '../auditMoney.js'
import { type Coins, chainOf, coinsOf } from '../chainOf.js'
import { chooseEntryPoint, entryPointFlag, entryPointsNamed } from '../chooseEntryPoint.js'
import { commandActor } from '../commandActor.js'
import { devKey, funderKey } from '../devnet/devKeys.js'
import { onChain } from '../onChain.js'
import type { Flags, Invocation } from '../onStore.js'
import { withOptions } from '../optionFlags.js'
import { parseAddress, parseAmount, parseBound } from '../parseFlags.js'
import { printTable } from '../printTable.js'
import { requireAnyApp, requireApp } from '../requireApp.js'
import { defineRoutes } from '../routeCommands.js'

type Tools = {
  readonly database: Database
  readonly tanks: Tanks
  /** The same within a transaction. */
  readonly tanksIn: (trx: Database) => Tanks
  readonly accountId: string | null
  readonly chainId: number
  /** null = the operator's shared tank */
  readonly appId: string | null
  readonly entryPoint: EntryPoint
  /** Gives gas, or takes tokens for it. */
  readonly kind: TankKind
  readonly signerOr: (development: Hex) => Promise<ExecutorSigner>
  readonly coins: Coins
}

/** Runs a command on tanks; `choose` says on which EntryPoints. */
function onTanks(
  flags: Flags,
  choose: typeof entryPointsNamed,
  run: (tools: Omit<Tools, 'entryPoint'>, entryPoints: readonly EntryPoint[]) => Promise<void>,
): Promise<void> {
  return onChain(flags, async ({ database, masterKey, node, chain, signerOr }) => {
    const app = await ownerOf(database, flags)
    const context = { masterKey, node, definition: chain }
    const tools = {
      database,
      tanks: createTanks({ ...context, database }),
      tanksIn: (trx: Database) => createTanks({ ...context, database: trx }),
      accountId: app?.accountId ?? null,
      chainId: chain.chainId,
      coins: coinsOf(chain),
      appId: app?.id ?? null,
      kind: parseKind(flags.kind),
      signerOr,
    }
    await run(tools, await choose(node, chain, flags.entryPoint))
  })
}

/** Runs a command on the one tank that the flags mean. */
function withTank(flags: Flags, run: (tools: Tools) => Promise<void>): Promise<void> {
  const one: typeof entryPointsNamed = async (...network) => [await chooseEntryPoint(...network)]
  return onTanks(flags, one, async (tools, [entryPoint]) => {
    if (entryPoint !== undefined) await run({ ...tools, entryPoint })
  })
}

/** The app whose tank the flags mean; undefined = the tank that apps with credit share. */
async function ownerOf(database: Database, flags: Flags): Promise<App | undefined> {
  if ((flags.app !== undefined) === (flags.shared !== undefined))
    throw new ConfigError('Give either --app, or --shared for the tank of apps with credit.')
  return flags.app === undefined ? undefined : requireAnyApp(database, flags.app)
}

function daysText({ daily, days }: Runway, coins: Coins): string {
  return days === undefined
    ? 'nothing was spent in the last 7 days'
    : `${days} days at ${coins(daily)} a day`
}

function showFund({ mode, alert, credit }: FundState, coins: Coins): void {
  const bounds = [
    ...(alert.wei > 0n ? [coins(alert.wei)] : []),
    ...(alert.days > 0 ? [`${alert.days} days`] : []),
  ]
  console.log(`mode      ${mode}`)
  if (mode !== 'tank' || credit.balance !== 0n) {
    console.log(`credit    ${coins(credit.balance)}`)
    console.log(`locked    ${coins(credit.locked)}`)
    console.log(`available ${coins(credit.available)}`)
    console.log(`runway    ${daysText(credit.runway, coins)}`)
  }
  console.log(`alert     ${bounds.length > 0 ? `below ${bounds.join(' or ')}` : 'off'}`)
}

/** The tank as the object of an audit entry. */
function subjectOf({ accountId, appId }: Tools, action: string, { address }: Tank) {
  return { action, objectId: address, accountId, appId }
}

/** Writes down what is known of a transfer, sends it, and writes down how it ended. */
function transfer(
  tools: Tools,
  action: string,
  tank: Tank,
  details: Readonly<Record<string, unknown>>,
  send: () => Promise<Hex | undefined>,
): Promise<void> {
  const { chainId, entryPoint, kind } = tank
  const place = { chainId, entryPoint, kind }
  return auditMoney(tools.database, subjectOf(tools, action, tank), { ...place, ...details }, send)
}

/** Changes the tank's row, in the audit log exactly when it is changed. */
function auditTank(
  tools: Tools,
  action: string,
  before: Tank | undefined,
  change: (tanks: Tanks) => Promise<Tank>,
): Promise<Tank> {
  return audited(tools.database, commandActor(), async ({ trx, record }) => {
    const after = await change(tools.tanksIn(trx))
    if (before?.address !== after.address)
      await record({ ...subjectOf(tools, action, after), before, after })
    return after
  })
}

async function deploy(tools: Tools, tank: Tank, payer: ExecutorSigner): Promise<void> {
  const { tanks, appId, entryPoint, kind } = tools
  if ((await tanks.show(appId, entryPoint, kind))?.deployed) return
  const { address: from } = payer
  await transfer(tools, 'tank.deploy', tank, { from }, () => tanks.deploy(tank, entryPoint, payer))
}

/** Makes the tank where it is missing, on the chain too. Returns it, and who pays. */
async function makeTank(
  tools: Tools,
  flags: Flags,
): Promise<{ tank: Tank; payer: ExecutorSigner }> {
  const { tanks, appId, entryPoint, kind, signerOr } = tools
  const payer = await signerOr(funderKey)
  const owner = parseAddress('--owner', flags.owner ?? payer.address)
  if (appId !== null) await requireApp(tools.database, appId)
  const known = await tanks.show(appId, entryPoint, kind)
  const tank = await auditTank(tools, 'tank.create', known, (within) =>
    within.ensure(appId, entryPoint, owner, kind),
  )
  await deploy(tools, tank, payer)
  return { tank, payer }
}

async function showTank({ tanks, appId, entryPoint, kind, coins }: Tools): Promise<boolean> {
  const state = await tanks.show(appId, entryPoint, kind)
  if (!state) return false
  console.log(`tank      ${state.address}${state.deployed ? '' : ' (not deployed yet)'}`)
  console.log(`for       EntryPoint ${entryPoint.version} ${entryPoint.address}`)
  console.log(`deposit   ${coins(state.deposit)}`)
  console.log(`reserved  ${coins(state.locked)}`)
  console.log(`lasts     ${daysText(state.runway, coins)}${state.isLow ? ' (low)' : ''}`)
  console.log(`owner     ${state.owner}`)
  console.log(
    `signer    ${state.signer}${state.isSignerLost ? ' (lost: see purser keys check)' : ''}`,
  )
  return true
}

/** The app's funds, and its tanks on these EntryPoints. */
async function show(
  tools: Omit<Tools, 'entryPoint'>,
  entryPoints: readonly EntryPoint[],
): Promise<void> {
  const { database, appId, chainId, kind, coins } = tools
  const isFunded = appId !== null && kind === 'gas'
  const fund = isFunded ? await readFunds(database, appId, chainId) : undefined
  if (fund !== undefined) showFund(fund, coins)
  let count = 0
  for (const entryPoint of entryPoints) if (await showTank({ ...tools, entryPoint })) count += 1
  if (count === 0 && (fund === undefined || fund.mode === 'tank'))
    console.log('There is no tank here yet; `purser tank deposit` creates one.')
}

/** What the tank paid for without a sponsorship in the books, in wei, by sender. */
async function showUnbooked(
  { database, tanks, appId, kind, coins }: Omit<Tools, 'entryPoint'>,
  entryPoints: readonly EntryPoint[],
): Promise<void> {
  const rows: (Unbooked & { readonly version: string })[] = []
  for (const entryPoint of entryPoints) {
    const tank = await tanks.show(appId, entryPoint, kind)
    if (tank === undefined) continue
    const payer = { chainId: tank.chainId, entryPoint: entryPoint.address, paymaster: tank.address }
    const found = await listUnbooked(database, payer)
    rows.push(...found.map((each) => ({ version: entryPoint.version, ...each })))
  }
  printTable(rows)
  if (rows.length > 0) console.log(`together ${coins(sum(rows.map(({ paid }) => paid)))}`)
}

function parseKind(text = 'gas'): TankKind {
  if (text === 'gas' || text === 'token') return text
  throw new ConfigError('--kind must be gas or token.')
}

/** `purser tank create|deposit|withdraw|show|unbooked|replace|mode|credit|alert` */
export function defineTankCommand(tank: Command): void {
  const add = (name: string, description: string) =>
    withOptions(
      tank
        .command(name)
        .description(description)
        .option('--app <id>', 'whose tank')
        .option('--shared', "the operator's tank, which pays for apps with credit")
        .requiredOption('--chain <id>', 'chain id')
        .option(...entryPointFlag)
        .option('--kind <kind>', 'gas: sponsors (default); token: charges tokens'),
      ['data', 'databaseUrl', 'masterKey', 'chains'],
    )
  add('show', 'address, deposit, owner and signer').action((flags: Flags) =>
    onTanks(flags, entryPointsNamed, show),
  )

  add('unbooked', 'operations that the tank paid for and the ledger lacks, after a restore').action(
    (flags: Flags) => onTanks(flags, entryPointsNamed, showUnbooked),
  )

  add('create', 'create and deploy the tank; an existing one stays as it is')
    .option('--key <key>', 'private key that pays for it, env:NAME or file:PATH')
    .option('--owner <address>', 'who may withdraw; default: the payer')
    .action((flags: Flags) =>
      withTank(flags, async (tools) => {
        await makeTank(tools, flags)
        await show(tools, [tools.entryPoint])
      }),
    )

  add('deposit', 'fund the tank; creates and deploys it if there is none')
    .requiredOption('--amount <ether>', 'how much, in whole coins of the chain')
    .option('--key <key>', 'private key that pays, env:NAME or file:PATH')
    .option('--owner <address>', 'who may withdraw from a new tank; default: the payer')
    .action((flags: Flags) => {
      const wei = parseAmount(flags.amount)
      return withTank(flags, async (tools) => {
        const { tank, payer } = await makeTank(tools, flags)
        const { address: from } = payer
        const send = () => tools.tanks.deposit(tank, wei, payer)
        await transfer(tools, 'tank.deposit', tank, { wei, from }, send)
        await show(tools, [tools.entryPoint])
      })
    })

  add('withdraw', 'withdraw from the tank; only its owner can')
    .requiredOption('--amount <ether>', 'how much, in whole coins of the chain')
    .option('--key <key>', "the owner's private key, env:NAME or file:PATH")
    .option('--to <address>', 'who receives it; default: the owner')
    .option('--reserved', 'also withdraw what signed sponsorships may still use; they then fail')
    .action((flags: Flags) => {
      const wei = parseAmount(flags.amount)
      return withTank(flags, async (tools) => {
        const { tanks, appId, entryPoint, kind, signerOr } = tools
        const owner = await signerOr(devKey(0))
        const to = parseAddress('--to', flags.to ?? owner.address)
        const state = await tanks.show(appId, entryPoint, kind)
        if (!state) throw new ConfigError('There is no tank here.')
        const kept = flags.reserved === undefined ? state.locked : 0n
        const send = () => tanks.withdraw(state, to, wei, kept, owner)
        await transfer(tools, 'tank.withdraw', state, { wei, to }, send)
        await show(tools, [tools.entryPoint])
      })
    })

  add('replace', 'replace an empty tank whose signer is lost')
    .option('--key <key>', 'private key that pays for it, env:NAME or file:PATH')
    .action((flags: Flags) =>
      withTank(flags, async (tools) => {
        const { tanks, appId, entryPoint, kind, signerOr } = tools
        const state = await tanks.show(appId, entryPoint, kind)
        if (!state) throw new ConfigError('There is no tank here.')
        const payer = await signerOr(funderKey)
        const tank = await auditTank(tools, 'tank.replace', state, (within) =>
          within.replace(state, entryPoint),
        )
        await deploy(tools, tank, payer)
        await show(tools, [tools.entryPoint])
      }),
    )

  defineFundCommands(tank)
}

const settings = ['chains'] as const

/** The commands on the funds of an app. */
function defineFundCommands(tank: Command): void {
  defineRoutes(tank, fundRoutes, {
    // A chain that is not configured is refused before anything is changed.
    parts: (_, config, { chain }) => {
      const { chainId } = chainOf(config, chain ?? '').chain
      return { chainIds: () => new Set([chainId]) }
    },
    commands: {
      mode: { settings, print: printFund },
      credit: {
        settings,
        body: (given, { amount }) => ({ ...given, wei: signedAmount(amount) }),
        print: printFund,
      },
      alert: {
        settings,
        body: (given, { below }) =>
          below === undefined ? given : { ...given, alertWei: String(parseBound(below)) },
        print: printFund,
      },
    },
  })
}

/** wei as text, negative to take it back */
function signedAmount(text = ''): string {
  return text.startsWith('-') ? `-${parseAmount(text.slice(1))}` : String(parseAmount(text))
}

/** The funds of the app as a change left them. */
async function printFund(_: unknown, { store, config, flags }: Invocation): Promise<void> {
  const { chain } = chainOf(config, flags.chain ?? '')
  const fund = await readFunds(store.database, flags.app ?? '', chain.chainId)
  showFund(fund, coinsOf(chain))
}
