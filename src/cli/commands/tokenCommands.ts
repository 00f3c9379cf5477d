import type { Command } from 'commander'
import { formatUnits, parseUnits } from 'viem/utils'
import { ConfigError } from '../../base/errors/configError.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import { createTanks } from '../../paymaster/tanks.js'
import { createTokenBooks, type TokenBook } from '../../paymaster/tokenBooks.js'
import { auditMoney } from '../auditMoney.js'
import { chooseEntryPoint, entryPointFlag } from '../chooseEntryPoint.js'
import { devKey } from '../devnet/devKeys.js'
import { onChain } from '../onChain.js'
import type { Flags } from '../onStore.js'
import { withOptions } from '../optionFlags.js'
import { parseAddress } from '../parseFlags.js'
import { printTable } from '../printTable.js'
import { requireAnyApp } from '../requireApp.js'

/** The chain's token of this address or symbol. */
function tokenOf({ tokens }: ChainDefinition, name = ''): TokenDefinition {
  const lowerName = name.toLowerCase()
  const token = tokens.find(
    ({ address, symbol }) => address === lowerName || symbol.toLowerCase() === lowerName,
  )
  if (token) return token
  const knownSymbols = tokens.map(({ symbol }) => symbol).join(', ') || 'none'
  throw new ConfigError(`The chain has no token ${name} configured; known: ${knownSymbols}.`)
}

function rowOf({ tokens }: ChainDefinition) {
  return ({
    appId,
    token,
    tank,
    collected,
    withdrawn,
    held,
    promised,
    missed,
    lost,
  }: TokenBook) => {
    // Of a token that was taken out of the configuration since, in smallest units.
    const known = tokens.find(({ address }) => address === token)
    const { symbol, decimals } = known ?? { symbol: token, decimals: 0 }
    const amount = (units: bigint): string => formatUnits(units, decimals)
    return {
      app: appId,
      token: symbol,
      tank,
      collected: amount(collected),
      withdrawn: amount(withdrawn),
      held: amount(held),
      promised: amount(promised),
      missed,
      lostWei: lost,
    }
  }
}

function parseUnitsOf(text = '', { decimals, symbol }: TokenDefinition): bigint {
  const fraction = text.split('.')[1] ?? ''
  const isAmount = /^\d{1,30}(\.\d{1,36})?$/.test(text) && fraction.length <= decimals
  const units = isAmount ? parseUnits(text, decimals) : 0n
  if (units > 0n) return units
  throw new ConfigError(`--amount must be ${symbol} above 0 with at most ${decimals} decimals.`)
}

/** `purser token list|withdraw` */
export function defineTokenCommand(token: Command): void {
  const add = (name: string, description: string) =>
    withOptions(
      token.command(name).description(description).requiredOption('--chain <id>', 'chain id'),
      ['data', 'databaseUrl', 'masterKey', 'chains'],
    )

  add('list', 'list what each app paid per token, and what is held, withdrawn and reserved')
    .option('--app <id>', 'its app')
    .action((flags: Flags) =>
      onChain(flags, async ({ chain, ...parts }) => {
        const books = createTokenBooks({ ...parts, definition: chain })
        printTable((await books.list(flags.app)).map(rowOf(chain)))
      }),
    )

  add('withdraw', 'withdraw tokens from a token tank; only its owner can')
    .option('--app <id>', "the tank's app; absent = the shared one")
    .requiredOption('--token <token>', 'address or symbol')
    .requiredOption('--amount <amount>', 'how much, in whole tokens')
    .option(...entryPointFlag)
    .option('--key <key>', "the owner's private key, env:NAME or file:PATH")
    .option('--to <address>', 'who receives them; default: the owner')
    .action((flags: Flags) =>
      onChain(flags, async ({ chain, signerOr, ...parts }) => {
        const { database, node } = parts
        const context = { ...parts, definition: chain }
        const books = createTokenBooks(context)
        const entryPoint = await chooseEntryPoint(node, chain, flags.entryPoint)
        const chosen = tokenOf(chain, flags.token)
        const amount = parseUnitsOf(flags.amount, chosen)
        const owner = await signerOr(devKey(0))
        const to = parseAddress('--to', flags.to ?? owner.address)
        const tank = await createTanks(context).show(flags.app ?? null, entryPoint, 'token')
        if (!tank) throw new ConfigError('There is no token tank here.')
        const app = flags.app === undefined ? undefined : await requireAnyApp(database, flags.app)
        await auditMoney(
          database,
          {
            action: 'token.withdraw',
            objectId: tank.address,
            accountId: app?.accountId ?? null,
            appId: app?.id ?? null,
          },
          { chainId: chain.chainId, token: chosen.address, units: amount, to },
          () => books.withdraw(tank, chosen.address, to, amount, owner),
        )
        console.log(`withdrawn ${formatUnits(amount, chosen.decimals)} ${chosen.symbol} to ${to}`)
      }),
    )
}
