import type { Command } from 'commander'
import type { Hex } from 'viem'
import { ConfigError } from '../../errors/configError.js'
import { explain } from '../../explain/explain.js'
import { type TimelineEntry, timelineOf, troubleOf } from '../../records/timelineOf.js'
import { requestCancellation } from '../../store/pool/cancellations.js'
import { announceOperations, findOperation } from '../../store/pool/operations.js'
import {
  findOperationRecord,
  type ListedOperation,
  listOperations,
  type OperationFilter,
} from '../../store/records/operations.js'
import type { OperationState } from '../../store/schema.js'
import { findAppOwner } from '../../store/tenants/apps.js'
import { audited } from '../../store/tenants/audit.js'
import { commandActor } from '../commandActor.js'
import { type Flags, onStore } from '../onStore.js'
import { parseAddress } from '../parseFlags.js'
import { printTable } from '../printTable.js'
import { explanationLines } from './explainCommand.js'

const hashPattern = /^0x[0-9a-fA-F]{64}$/
const beginningPattern = /^0x[0-9a-fA-F]{4,64}$/

const PAGE_SIZE = 50

function filterOf(flags: Flags): OperationFilter {
  return {
    appId: flags.app,
    code: flags.code,
    chainId: flags.chain === undefined ? undefined : parseChain(flags.chain),
    state: flags.state === undefined ? undefined : parseState(flags.state),
    sender: flags.sender === undefined ? undefined : parseAddress('--sender', flags.sender),
    hash: flags.hash === undefined ? undefined : parseBeginning(flags.hash),
  }
}

const states: readonly OperationState[] = ['pooled', 'bundled', 'included', 'dropped', 'replaced']

function parseState(text: string): OperationState {
  const state = states.find((known) => known === text)
  if (state === undefined) throw new ConfigError(`--state must be one of ${states.join(', ')}.`)
  return state
}

function parseBeginning(text: string): string {
  if (beginningPattern.test(text)) return text.toLowerCase()
  throw new ConfigError('--hash must be 0x and 4 to 64 hexadecimal digits.')
}

function parseChain(text: string | undefined): number {
  const chainId = Number(text)
  if (!Number.isSafeInteger(chainId) || chainId <= 0)
    throw new ConfigError('--chain must be a chain id.')
  return chainId
}

function parseHash(text: string): Hex {
  if (!hashPattern.test(text)) throw new ConfigError('The hash must be 0x and 64 hex digits.')
  return text.toLowerCase() as Hex
}

function toRow(row: ListedOperation) {
  const { received_at, chain_id, state, success, sender, prefund, actual_gas_cost, hash } = row
  const outcome = success === false ? 'reverted' : state
  const cost = actual_gas_cost ?? prefund
  return {
    time: received_at,
    chain: chain_id,
    state: outcome,
    code: row.reason_code,
    sender,
    cost,
    hash,
  }
}

/** The members of an entry in one line, the kind first. */
function lineOf({ at, kind, ...facts }: TimelineEntry): string {
  const parts = Object.entries(facts).map(
    ([name, value]) => `${name} ${value instanceof Date ? value.toISOString() : (value ?? '-')}`,
  )
  return `${at.toISOString()}  ${kind.padEnd(11)} ${parts.join(', ')}`.trimEnd()
}

/** `purser operation list|show|cancel` */
export function defineOperationCommand(operation: Command): void {
  onStore(
    operation
      .command('list')
      .description(`the newest ${PAGE_SIZE} operations; --after continues`)
      .option('--app <id>', 'of this app')
      .option('--chain <id>', 'on this chain')
      .option('--sender <address>', 'of this sender')
      .option('--hash <beginning>', 'whose hash begins so')
      .option('--state <name>', `in this state: ${states.join(', ')}`)
      .option('--code <code>', 'dropped with this code, e.g. EXPIRED or AA25')
      .option('--after <cursor>', 'the end of the page before'),
    async ({ store, flags }) => {
      const page = { limit: PAGE_SIZE, before: flags.after }
      const { items, next } = await listOperations(store.database, filterOf(flags), page)
      printTable(items.map(toRow))
      if (next !== undefined) console.log(`more: --after ${next}`)
    },
  )
  onStore(
    operation
      .command('show')
      .argument('<hash>')
      .description('one operation: what happened to it, and what to do')
      .requiredOption('--chain <id>', 'its chain'),
    async ({ store, flags, id }) => {
      const chainId = parseChain(flags.chain)
      const record = await findOperationRecord(store.database, chainId, parseHash(id))
      if (record === undefined) throw new ConfigError(`Chain ${chainId} has no operation ${id}.`)
      const { operation: row } = record
      console.log(`operation ${row.hash} of ${row.sender}, nonce ${row.nonce}: ${row.state}`)
      for (const entry of timelineOf(record)) console.log(lineOf(entry))
      const code = troubleOf(record)
      const known = code === null ? undefined : explain(code)
      for (const line of known === undefined ? [] : explanationLines(known)) console.log(line)
    },
  )
  onStore(
    operation
      .command('cancel')
      .argument('<hash>')
      .description('take an operation back that is not included yet')
      .requiredOption('--chain <id>', 'its chain'),
    async ({ store, flags, id }) => {
      const chainId = parseChain(flags.chain)
      const hash = parseHash(id)
      const state = await audited(store.database, commandActor(), async ({ trx, record }) => {
        const appId = (await findOperation(trx, chainId, hash))?.appId ?? null
        const before = await requestCancellation(trx, chainId, hash, 'operator')
        const accountId = appId && ((await findAppOwner(trx, appId))?.accountId ?? null)
        const object = { objectId: hash, accountId, appId }
        if (before === 'pooled' || before === 'bundled')
          await record({
            action: 'operation.cancel',
            ...object,
            before: { chainId, state: before },
          })
        return before
      })
      if (state === undefined) throw new ConfigError(`Chain ${chainId} has no operation ${hash}.`)
      if (state !== 'pooled' && state !== 'bundled')
        throw new ConfigError(`Operation ${hash} is ${state} already.`)
      await announceOperations(store.database, chainId)
      console.log(
        state === 'pooled'
          ? `Cancelled operation ${hash}: Purser does not send it. Its signature stays valid until the account uses the nonce.`
          : `The bundle of operation ${hash} is being cancelled, unless it is included first: see its status.`,
      )
    },
  )
}
