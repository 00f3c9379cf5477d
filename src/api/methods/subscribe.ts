import type { Hex } from 'viem'
import { z } from 'zod'
import { InvalidParamsError, InvalidRequestError } from '../../base/errors/requestErrors.js'
import { address, objectOf, oneOf, optional, text, userOpHash } from '../dialects/decode/values.js'
import { EXAMPLE_HASH } from './examples.js'
import { type MethodContext, method, type SocketSubscriptions } from './method.js'
import { readsOf } from './nodeReads.js'

const filter = objectOf({
  userOpHash: optional(userOpHash),
  sender: optional(address),
  until: optional(oneOf('preconfirmed', 'included', 'final'), 'included' as const),
})

const EXAMPLE_ID: Hex = `0x${'5b'.repeat(16)}`

/** News of one operation, or of those of one sender that its app sent; or the headers that a node would announce. */
export const subscribe = method({
  name: 'eth_subscribe',
  summary:
    "Over a WebSocket: events of an operation, or of a sender's operations; headers of new blocks.",
  scope: 'bundler',
  cost: 5,
  params: { kind: oneOf('userOperation', 'newHeads'), filter: optional(filter) },
  decode: ({ kind, filter: operations }) => {
    if (kind === 'newHeads') return {}
    if ((operations?.userOpHash === undefined) === (operations?.sender === undefined))
      throw new InvalidParamsError('params[1]', 'must have either userOpHash or sender.')
    return { operations }
  },
  run: async ({ operations }, context) => {
    const { keyId, gate } = context
    const subscriptions = requireSocket(context)
    const begin = operations ? operationsOf(operations, context) : headersOf(context)
    const leave = gate.wait(keyId)
    return subscriptions.add((listener) => {
      const end = (): void => {
        leave()
        listener.end()
      }
      const stop = begin({ ...listener, end })
      return () => {
        stop()
        leave()
      }
    })
  },
  result: z.string(),
  example: { params: ['userOperation', { userOpHash: EXAMPLE_HASH }], outcome: EXAMPLE_ID },
})

type Begin = Parameters<SocketSubscriptions['add']>[0]
type OperationFilter = ReturnType<typeof filter.decode>

function headersOf({ chain }: MethodContext): Begin {
  const { onHeader } = readsOf(chain)
  return ({ header }) => onHeader(header)
}

function operationsOf(
  { userOpHash, sender, until }: OperationFilter,
  { chain, appId }: MethodContext,
): Begin {
  if (userOpHash === undefined)
    return ({ report, end }) => chain.followSender({ appId, sender: sender! }, { report, end })
  return ({ report, end }) =>
    chain.follow(userOpHash, until, {
      report: (progress) => {
        report(userOpHash, progress)
        if (progress.isDone) end()
      },
      end,
    })
}

export const unsubscribe = method({
  name: 'eth_unsubscribe',
  summary: 'Over a WebSocket: ends a subscription; returns whether it existed.',
  scope: 'bundler',
  params: { subscription: text(66) },
  run: async ({ subscription }, context) => requireSocket(context).remove(subscription),
  result: z.boolean(),
  example: { params: [EXAMPLE_ID], outcome: true },
})

function requireSocket({ subscriptions }: MethodContext) {
  if (subscriptions !== undefined) return subscriptions
  throw new InvalidRequestError('subscriptions need a WebSocket: open one at the same URL.')
}
