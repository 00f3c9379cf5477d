import type { Command } from 'commander'
import { ConfigError } from '../../errors/configError.js'
import { explain } from '../../explain/explain.js'
import {
  type DecisionEntry,
  type DecisionFilter,
  findDecisionEntry,
  listDecisions,
} from '../../store/ledger/decisions.js'
import { listWebhookCalls } from '../../store/ledger/webhookCalls.js'
import { type Flags, onStore } from '../onStore.js'
import { parseAddress } from '../parseFlags.js'
import { printTable } from '../printTable.js'
import { explanationLines } from './explainCommand.js'

const PAGE_SIZE = 50

function filterOf(flags: Flags): DecisionFilter {
  return {
    appId: flags.app,
    policyId: flags.policy,
    code: flags.code,
    chainId: flags.chain === undefined ? undefined : Number(flags.chain),
    sender: flags.sender === undefined ? undefined : parseAddress('--sender', flags.sender),
  }
}

/** The end that the reservation of a decision found, in words. */
function fateOf({ reservation_state, included_hash, user_op_hash }: DecisionEntry): string {
  if (reservation_state === null) return '-'
  const other = included_hash !== null && included_hash !== user_op_hash
  return other ? 'nonce taken by another operation' : reservation_state
}

function toRow(entry: DecisionEntry) {
  return {
    id: entry.id,
    time: entry.created_at,
    chain: entry.chain_id,
    sender: entry.sender,
    code: entry.code,
    maxCost: entry.max_cost,
    fate: fateOf(entry),
    cost: entry.actual_cost,
  }
}

/** `purser decision list|show` */
export function defineDecisionCommand(decision: Command): void {
  onStore(
    decision
      .command('list')
      .description(`the newest ${PAGE_SIZE} decisions; --after continues`)
      .option('--app <id>', 'of this app')
      .option('--chain <id>', 'on this chain')
      .option('--sender <address>', 'for this sender')
      .option('--policy <id>', 'by this policy')
      .option('--code <code>', 'with this outcome, e.g. BUDGET_EXCEEDED')
      .option('--after <id>', 'the last one of the page before'),
    async ({ store, flags }) => {
      const page = { limit: PAGE_SIZE, before: flags.after }
      const { items, next } = await listDecisions(store.database, filterOf(flags), page)
      printTable(items.map(toRow))
      if (next !== undefined) console.log(`more: --after ${next}`)
    },
  )
  onStore(
    decision.command('show').argument('<id>').description('one decision with all its numbers'),
    async ({ store, id }) => {
      const entry = await findDecisionEntry(store.database, id)
      if (entry === undefined)
        throw new ConfigError(`There is no decision ${id}; see \`purser decision list\`.`)
      const { app_id, user_op_hash, nonce, policy_id, message, details, valid_until } = entry
      const more = { app: app_id, nonce, hash: user_op_hash, policy: policy_id, until: valid_until }
      for (const [name, value] of Object.entries({ ...toRow(entry), ...more, message }))
        console.log(
          `${name.padEnd(10)}${value instanceof Date ? value.toISOString() : (value ?? '-')}`,
        )
      const known = entry.sponsored ? undefined : explain(entry.code)
      for (const line of known === undefined ? [] : explanationLines(known)) console.log(line)
      console.log(`details   ${JSON.stringify(details, undefined, 2)}`)
      const calls = await listWebhookCalls(store.database, id)
      if (calls.length > 0)
        printTable(
          calls.map((call) => ({
            webhook: call.webhook_id,
            outcome: call.outcome,
            status: call.http_status,
            milliseconds: call.duration_ms.toFixed(1),
            reason: call.reason,
          })),
        )
    },
  )
}
