import type { Command } from 'commander'
import type { Hex } from 'viem'
import { formatEther } from 'viem/utils'
import { decisionRecordRoutes } from '../../api/admin/routes/decisions.js'
import { auditRoutes } from '../../api/admin/routes/instance.js'
import { operationRoutes } from '../../api/admin/routes/operations.js'
import { replayRoutes } from '../../api/admin/routes/replays.js'
import { refusalRoutes } from '../../api/admin/routes/refusals.js'
import { shareRoutes, sharingRoutes } from '../../api/admin/routes/shares.js'
import type { AdminAnswer } from '../../api/contracts/createAdminClient.js'
import { ConfigError } from '../../base/errors/configError.js'
import { announceOperations } from '../../mempool/pool/operations.js'
import { requestCancellation } from '../../mempool/pool/successors.js'
import { findOperationOwner } from '../../records/operationRecord.js'
import { audited, findBrokenAudit } from '../../tenants/audit.js'
import { commandActor } from '../commandActor.js'
import { onStore } from '../onStore.js'
import { statementRoutes } from '../../api/admin/routes/statements.js'
import { defineRoutes } from '../routeCommands.js'
import { printReplay } from '../printReplay.js'
import { explanationLines } from './explainCommand.js'

/** `purser audit list|verify` */
export function defineAuditCommand(audit: Command): void {
  defineRoutes(audit, auditRoutes, {
    commands: {
      list: {
        defaults: { limit: 200 },
        columns: 'id at actor actorId ip action objectId appId',
      },
    },
  })
  onStore(
    audit.command('verify').description('check that no entry was changed or removed'),
    async ({ store }) => {
      const broken = await findBrokenAudit(store.database)
      if (broken !== undefined)
        throw new ConfigError(`The audit log was changed at entry ${broken}, or before it.`)
      console.log('The audit log is intact.')
    },
  )
}

/** `purser decision list|show` */
export function defineDecisionCommand(decision: Command): void {
  defineRoutes(decision, decisionRecordRoutes, {
    commands: {
      list: {
        columns:
          'id=decisionId time=createdAt chain=chainId sender code maxCost fate cost=actualCost',
      },
    },
  })
}

/** `purser refusal list|show` */
export function defineRefusalCommand(refusal: Command): void {
  defineRoutes(refusal, refusalRoutes, {
    commands: {
      list: {
        columns: 'id=refusalId time=at chain=chainId method sender code rule message',
      },
    },
  })
}

type Shown = AdminAnswer<'GET /operations/{chainId}/{userOpHash}'>

/** What happened to an operation, one entry in a line, and what to do. */
function printOperation({ timeline, explanation, ...operation }: Shown): void {
  const { userOpHash, sender, nonce, state } = operation
  console.log(`operation ${userOpHash} of ${sender}, nonce ${nonce}: ${state}`)
  for (const { at, kind, ...facts } of timeline) {
    const parts = Object.entries(facts).map(([name, value]) => `${name} ${value ?? '-'}`)
    console.log(`${at}  ${kind.padEnd(11)} ${parts.join(', ')}`.trimEnd())
  }
  if (explanation !== null) for (const line of explanationLines(explanation)) console.log(line)
}

function parseChain(text: string | undefined): number {
  const chainId = Number(text)
  if (!Number.isSafeInteger(chainId) || chainId <= 0)
    throw new ConfigError('--chain must be a chain id.')
  return chainId
}

function parseHash(text: string): Hex {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase() as Hex
  throw new ConfigError('The hash must be 0x and 64 hex digits.')
}

/** `purser statement list|show` */
export function defineStatementCommand(statement: Command): void {
  type Shown = AdminAnswer<'GET /statements/{statementId}'>
  defineRoutes(statement, statementRoutes, {
    commands: {
      show: {
        print: ({ csv }: Shown) => {
          process.stdout.write(csv)
        },
      },
    },
  })
}

/** `purser share list|revoke` */
export function defineShareCommand(share: Command): void {
  defineRoutes(share, shareRoutes)
}

/** `purser operation list|show|replay|share|cancel` */
export function defineOperationCommand(operation: Command): void {
  type Listed = AdminAnswer<'GET /operations'>['items'][number]
  defineRoutes(operation, [...operationRoutes, ...replayRoutes, ...sharingRoutes], {
    isOfAccount: false,
    commands: {
      list: {
        row: (each: Listed) => ({
          time: each.receivedAt,
          chain: each.chainId,
          state: each.success === false ? 'reverted' : each.state,
          code: each.code,
          sender: each.sender,
          cost: formatEther(BigInt(each.actualCost ?? each.maxCost)),
          hash: each.userOpHash,
        }),
      },
      show: { print: printOperation },
      replay: { print: printReplay },
    },
  })
  // As the operator: the API takes back only what is in no bundle.
  onStore(
    operation
      .command('cancel')
      .argument('<hash>')
      .description('cancel an operation that is not included yet')
      .requiredOption('--chain <id>', 'its chain'),
    async ({ store, flags, id }) => {
      const chainId = parseChain(flags.chain)
      const hash = parseHash(id)
      const state = await audited(store.database, commandActor(), async ({ trx, record }) => {
        const owner = await findOperationOwner(trx, chainId, hash)
        const before = await requestCancellation(trx, chainId, hash, 'operator')
        const object = owner ?? { accountId: null, appId: null }
        if (before === 'pooled' || before === 'bundled')
          await record({
            action: 'operation.cancel',
            objectId: hash,
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
