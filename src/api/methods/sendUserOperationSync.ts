import type { Hex } from 'viem'
import { z } from 'zod'
import { OperationEndedError, OperationTimeoutError } from '../../base/errors/operationErrors.js'
import type { Stage } from '../../bundler/operationNews.js'
import type { OperationReceipt } from '../../bundler/operationViews.js'
import { encodeClassicReceipt } from '../dialects/classic.js'
import { entryPoint } from '../dialects/decode/entryPoint.js'
import { decodeOperation, operation } from '../dialects/decode/operation.js'
import { type Input, integer, objectOf, oneOf, optional } from '../dialects/decode/values.js'
import { encodeStandardReceipt } from '../dialects/standard.js'
import { word } from '../openRpc/parts.js'
import { classicReceipt, standardReceipt } from '../openRpc/results.js'
import { EXAMPLE_ENTRY_POINT, exampleOperationJson, exampleReceipt } from './examples.js'
import { admissionErrors, type MethodContext, method } from './method.js'

/** Milliseconds that a request waits where it names no time or 0, and at most: proxies cut connections after a minute. */
const DEFAULT_TIMEOUT = 20_000
const MOST_TIMEOUT = 60_000

const until = optional(oneOf('accepted', 'preconfirmed', 'included', 'final'))
const terms = objectOf({ timeout: optional(integer), until })

type Terms = ReturnType<typeof terms.decode>

/** Milliseconds, as EIP-7966 has them, or an object with them, as clients of Gelato send it. */
const timeout: Input<Terms> = {
  json: z.union([integer.json, terms.json]),
  decode: (value, field, chain) =>
    typeof value === 'object'
      ? terms.decode(value, field, chain)
      : { timeout: integer.decode(value, field, chain), until: undefined },
}

export const sendUserOperationSync = method({
  name: 'eth_sendUserOperationSync',
  summary: 'Sends the operation and waits; returns its receipt, or its hash for "accepted".',
  scope: 'bundler',
  cost: 5,
  params: { operation, entryPoint, timeout: optional(timeout), until },
  errors: [...admissionErrors, 4, -32000],
  decode: ({ operation, entryPoint, timeout, until }) => ({
    entryPoint,
    operation: decodeOperation(operation, 'params[0]', entryPoint.version),
    until: until ?? timeout?.until ?? 'included',
    timeout: Math.min(timeout?.timeout || DEFAULT_TIMEOUT, MOST_TIMEOUT),
  }),
  run: async (
    { entryPoint, operation, until, timeout },
    context,
  ): Promise<Hex | OperationReceipt> => {
    const { chain, appId, keyId, gate } = context
    const deadline = performance.now() + timeout
    // A request that may not wait is refused before its operation is taken.
    const leave = gate.wait(keyId)
    try {
      const hash = await gate.simulate(keyId, 'eth_sendUserOperationSync', (requester) =>
        chain.admit(entryPoint, operation, { appId, keyId, requester, simulateExecution: false }),
      )
      return until === 'accepted' ? hash : await receiptOf(hash, until, deadline, context)
    } finally {
      leave()
    }
  },
  result: {
    classic: z.union([classicReceipt, word]),
    standard: z.union([standardReceipt, word]),
  },
  encode: {
    classic: (result) => (typeof result === 'string' ? result : encodeClassicReceipt(result)),
    standard: (result) => (typeof result === 'string' ? result : encodeStandardReceipt(result)),
  },
  example: {
    params: [exampleOperationJson, EXAMPLE_ENTRY_POINT, { timeout: 10_000 }],
    outcome: exampleReceipt,
  },
})

/** The receipt of an operation that has come so far. Throws OperationTimeoutError, OperationEndedError. */
function receiptOf(
  hash: Hex,
  until: Stage,
  deadline: number,
  { chain, onClose }: Pick<MethodContext, 'chain' | 'onClose'>,
): Promise<OperationReceipt> {
  return new Promise((resolve, reject) => {
    let state: string = 'BUNDLER_MEMPOOL'
    const settle = (answer: () => void): void => {
      stop()
      forget()
      clearTimeout(timer)
      answer()
    }
    const endWait = (reason: string): void =>
      settle(() => reject(new OperationTimeoutError(hash, state, reason)))
    const timer = setTimeout(
      () => endWait(`it was not ${until} within the timeout`),
      Math.max(0, deadline - performance.now()),
    )
    // Nobody reads this answer: the place among those who wait becomes free.
    const forget = onClose(() => endWait('the connection closed'))
    const stop = chain.follow(hash, until, {
      report: ({ status, isDone }) => {
        state = status.state
        const { receipt, message: reason, reasonCode: rule } = status
        if (!isDone) return
        if (receipt !== undefined) settle(() => resolve(receipt))
        else settle(() => reject(new OperationEndedError(hash, { state, reason, rule })))
      },
      end: () => endWait('the service stops'),
    })
  })
}
