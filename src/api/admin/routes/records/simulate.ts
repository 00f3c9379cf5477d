import { contracts } from '../../../../admin/contracts.js'
import type { EntryPoint } from '../../../../entrypoint/entryPoint.js'
import { type Version, versionFacts } from '../../../../entrypoint/versionFacts.js'
import { explainError } from '../../../../explain/explain.js'
import { asPurserError } from '../../../asPurserError.js'
import { decodeEntryPoint } from '../../../dialects/decode/entryPoint.js'
import { decodeOperation } from '../../../dialects/decode/operation.js'
import { type Route, serve } from '../../route.js'
import { servedChain } from './servedChain.js'

/** The version whose fields the operation has: those of a record are not packed, whatever its EntryPoint. */
function shapeOf(
  operation: Readonly<Record<string, unknown>>,
  { version }: Pick<EntryPoint, 'version'>,
): Version {
  const isPacked = 'initCode' in operation || 'paymasterAndData' in operation
  return versionFacts[version].packsEntities && !isPacked ? '0.7' : version
}

export const simulateRoutes: readonly Route[] = serve(contracts.simulate)({
  async 'POST /apps/{appId}/simulate'({ context, app, body, simulate, logger }) {
    const chain = servedChain(context, body.chainId)
    const entryPoint = decodeEntryPoint(body.entryPoint, 'entryPoint', chain)
    const operation = decodeOperation(
      body.operation,
      'operation',
      shapeOf(body.operation, entryPoint),
    )
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
})
