import type { Command } from 'commander'
import { ConfigError } from '../../errors/configError.js'
import { explainError } from '../../explain/explain.js'
import {
  findRefusal,
  listRefusals,
  type RefusalFilter,
  type StoredRefusal,
} from '../../store/records/refusals.js'
import { type Flags, onStore } from '../onStore.js'
import { parseAddress } from '../parseFlags.js'
import { printTable } from '../printTable.js'
import { explanationLines } from './explainCommand.js'

const PAGE_SIZE = 50

function filterOf(flags: Flags): RefusalFilter {
  return {
    appId: flags.app,
    rule: flags.rule,
    method: flags.method,
    chainId: flags.chain === undefined ? undefined : Number(flags.chain),
    sender: flags.sender === undefined ? undefined : parseAddress('--sender', flags.sender),
  }
}

function toRow({ id, at, chain_id, method, sender, code, rule, message }: StoredRefusal) {
  return {
    id,
    time: at,
    chain: chain_id,
    method,
    sender,
    code,
    rule,
    message: message.slice(0, 80),
  }
}

/** `purser refusal list|show` */
export function defineRefusalCommand(refusal: Command): void {
  onStore(
    refusal
      .command('list')
      .description(`the newest ${PAGE_SIZE} refused requests; --after continues`)
      .option('--app <id>', 'of this app')
      .option('--chain <id>', 'on this chain')
      .option('--sender <address>', 'about this sender')
      .option('--method <name>', 'of this method')
      .option('--rule <code>', 'with this code, e.g. AA24 or STO-021')
      .option('--after <id>', 'the last one of the page before'),
    async ({ store, flags }) => {
      const page = { limit: PAGE_SIZE, before: flags.after }
      const { items, next } = await listRefusals(store.database, filterOf(flags), page)
      printTable(items.map(toRow))
      if (next !== undefined) console.log(`more: --after ${next}`)
    },
  )
  onStore(
    refusal.command('show').argument('<id>').description('one refused request, and what to do'),
    async ({ store, id }) => {
      const stored = await findRefusal(store.database, id)
      if (stored === undefined)
        throw new ConfigError(`There is no refusal ${id}; see \`purser refusal list\`.`)
      const { at, chain_id, method, code, message, data, request } = stored
      console.log(`${at.toISOString()}  ${method} on chain ${chain_id}: ${code} ${message}`)
      const known = explainError(stored)
      for (const line of known === undefined ? [] : explanationLines(known)) console.log(line)
      if (data !== null) console.log(`data      ${data}`)
      console.log(`app       ${stored.app_id}`)
      console.log(`key       ${stored.key_id}`)
      console.log(`request   ${request ?? 'longer than what is kept'}`)
    },
  )
}
