import { z } from 'zod'
import { explainError } from '../../../../explain/explain.js'
import { address, appParams, explanation } from '../../../adminSchemas.js'
import { asPurserError } from '../../../asPurserError.js'
import { decodeEntryPoint } from '../../../dialects/decode/entryPoint.js'
import { decodeOperation } from '../../../dialects/decode/operation.js'
import { type Route, route } from '../../route.js'
import { servedChain } from './servedChain.js'

/** Operations as they are sent: pasted from a log, a wallet or a refusal. */
export const simulateRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/apps/{appId}/simulate',
    summary: 'Whether a signed operation would be taken now, and why not; keeps nothing',
    who: 'account',
    role: 'developer',
    params: appParams,
    body: z.strictObject({
      chainId: z.int().positive(),
      entryPoint: address,
      operation: z.record(z.string(), z.unknown()),
      /** Also run its call, and refuse it where that reverts. */
      execution: z.boolean().default(true),
    }),
    answer: z.object({
      accepted: z.boolean(),
      userOpHash: z.string().nullable(),
      /** The JSON-RPC error that sending it would give; null where it would be taken. */
      code: z.int().nullable(),
      rule: z.string().nullable(),
      message: z.string(),
      explanation: explanation.nullable(),
    }),
    async run({ context, app, body, simulate, logger }) {
      const chain = servedChain(context, body.chainId)
      const entryPoint = decodeEntryPoint(body.entryPoint, 'entryPoint', chain)
      const operation = decodeOperation(body.operation, 'operation', entryPoint.version)
      const options = { appId: app.id, simulateExecution: body.execution }
      try {
        const userOpHash = await simulate(app.id, () => chain.check(entryPoint, operation, options))
        const message = 'It would be taken, unless the limits of the pool are reached.'
        const none = { code: null, rule: null, explanation: null }
        return { accepted: true, userOpHash, message, ...none }
      } catch (thrown) {
        const { code, rule = null, message, status } = asPurserError(thrown, logger)
        // Our own trouble says nothing about the operation.
        if (status >= 500 || status === 429) throw thrown
        const known = explainError({ code, rule }) ?? null
        return { accepted: false, userOpHash: null, code, rule, message, explanation: known }
      }
    },
  }),
]
