import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ConflictError, InvalidFieldError } from '../../../base/errors/restErrors.js'
import { type StatementRange, statementCsv } from '../../../records/statements/statement.js'
import {
  findStatement,
  listStatements,
  makeContent,
  sponsoredChains,
  statement,
  statements,
} from '../../../records/statements/statements.js'
import { insertRow, showRow } from '../../../tenants/resource.js'
import { date, pageOf, pageById } from '../../../tenants/schemas.js'
import type { AdminContext } from '../../adminContext.js'
import { route } from '../../adminContext.js'
import { requireSpan } from './overview.js'

/** Throws InvalidFieldError where the range is none, or began before the records that are kept. */
function requireKept({ keptSince }: AdminContext, from: Date, until: Date): void {
  requireSpan(from, until, 366)
  const kept = keptSince()
  if (from < kept)
    throw new InvalidFieldError(
      'from',
      `must not be before ${kept.toISOString()}: older records were deleted`,
    )
}

/** Throws ConflictError while a reorganisation can still change a block before `until`. */
async function requireFinal(context: AdminContext, range: StatementRange): Promise<void> {
  const { until } = range
  for (const chainId of await sponsoredChains(context.database, range)) {
    const chain = context.chains.get(chainId)
    if (chain === undefined)
      throw new ConflictError(
        `Chain ${chainId}, of this range, is not served: what is final there is unknown.`,
      )
    const final = await chain.finalTime()
    if (final === undefined || final < until) throw notFinal(chainId, final)
  }
  if (until.getTime() > Date.now()) throw notFinal(undefined, undefined)
}

function notFinal(chainId: number | undefined, final: Date | undefined): ConflictError {
  const where = chainId === undefined ? '' : ` of chain ${chainId}`
  const upTo = final === undefined ? '' : `, which is final up to ${final.toISOString()}`
  return new ConflictError(`The blocks of this range${where} are not final yet${upTo}.`)
}

export const statementRoutes = [
  route('GET /statements', {
    command: 'list',
    summary: 'The signed statements of what apps spent, newest first',
    who: 'either',
    role: 'viewer',
    query: pageById,
    answer: pageOf(statement),
    run: ({ context, caller: { accountId }, query: { limit, before } }) =>
      listStatements(context.database, accountId, { limit, before }),
  }),
  route('GET /statements/{statementId}', {
    command: 'show',
    summary: 'A statement: its signed text, the same as CSV, the signature and its public key',
    who: 'either',
    role: 'viewer',
    answer: statement.extend({
      /** JSON; the signature is of exactly these bytes, in UTF-8. */
      content: z.string(),
      csv: z.string(),
      /** SHA-256 of the content, hex. */
      digest: z.string(),
      /** Ed25519, base64. */
      signature: z.string(),
      /** SPKI in DER, base64. */
      publicKey: z.string(),
    }),
    async run({ context, caller, params }) {
      const { statementId } = params
      const row = await findStatement(context.database, statementId, caller.accountId)
      if (row === undefined) return undefined
      const { content, signature, public_key } = row
      return {
        ...showRow(statements, row),
        content,
        csv: statementCsv(content),
        digest: createHash('sha256').update(content).digest('hex'),
        signature: signature.toString('base64'),
        publicKey: public_key.toString('base64'),
      }
    },
  }),
  route('POST /apps/{appId}/statements', {
    summary: 'Sign what an app spent on sponsorships between two times of final blocks',
    who: 'either',
    role: 'admin',
    status: 201,
    body: z.strictObject({ from: date, until: date }),
    answer: statement,
    async run({ context, change, app, body: { from, until } }) {
      requireKept(context, from, until)
      const range = { appId: app.id, from, until }
      await requireFinal(context, range)
      const made = await makeContent(context.database, range)
      if (made === 'notFinal') throw notFinal(undefined, undefined)
      if (made === 'tooLong')
        throw new InvalidFieldError('from', 'makes too long a statement: ask for fewer days')
      const { signature, publicKey } = context.signStatement(made.content)
      return change((audit) =>
        insertRow(audit, statements, {
          app_id: app.id,
          from_time: from,
          until_time: until,
          content: made.content,
          signature,
          public_key: publicKey,
        }),
      )
    },
  }),
]
