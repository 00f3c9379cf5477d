import type { Hex } from 'viem'
import { z } from 'zod'
import { InvalidParamsError, InvalidRequestError } from '../../base/errors/requestErrors.js'
import { address, objectOf, oneOf, optional, text, userOpHash } from '../dialects/decode/values.js'
import { EXAMPLE_HASH } from './examples.js'
import { type MethodContext, method } from './method.js'

const filter = objectOf({
  userOpHash: optional(userOpHash),
  sender: optional(address),
  until: optional(oneOf('preconfirmed', 'included', 'final'), 'included' as const),
})

const EXAMPLE_ID: Hex = `0x${'5b'.repeat(16)}`

/** News of one operation, or of those of one sender that its app sent. */
export const subscribe = method({
  name: 'eth_subscribe',
  summary: "Over a WebSocket: events of an operation, or of a sender's operations.",
  scope: 'bundler',
  cost: 5,
  params: { kind: oneOf('userOperation'), filter },
  decode: ({ filter: { userOpHash, sender, until } }) => {
    if ((userOpHash === undefined) === (sender === undefined))
      throw new InvalidParamsError('params[1]', 'must have either userOpHash or sender.')
    return { userOpHash, sender, until }
  },
  run: async ({ userOpHash, sender, until }, context) => {
    const { chain, appId, keyId, gate } = context
    const subscriptions = requireSocket(context)
    const leave = gate.wait(keyId)
    return subscriptions.add(({ report, end }) => {
      const stop =
        userOpHash !== undefined
          ? chain.follow(userOpHash, until, {
              report: (progress) => {
                report(userOpHash, progress)
                if (!progress.isDone) return
                leave()
                end()
              },
              end,
            })
          : chain.followSender({ appId, sender: sender! }, { report, end })
      return () => {
        stop()
        leave()
      }
    })
  },
  result: z.string(),
  example: { params: ['userOperation', { userOpHash: EXAMPLE_HASH }], outcome: EXAMPLE_ID },
})

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
