import type { Hex } from 'viem'
import { z } from 'zod'
import { privateMethods, type SendingDefinition } from '../chain/definition/sending.js'
import type { KeySource } from '../signing/openSigner.js'
import { privateKey } from './privateKey.js'

const url = z.url({ protocol: /^https?$/ })
const fallback = { authKey: privateKey.optional(), publicAfter: z.int().min(1).max(100_000) }

/** The way in which bundles are sent. A relay has no default patience: the operator must state it. */
export const sendingSchema = z.discriminatedUnion('way', [
  z.strictObject({ way: z.literal('public') }),
  z.strictObject({
    way: z.literal('private'),
    url,
    method: z.enum(privateMethods).default('eth_sendPrivateTransaction'),
    ...fallback,
  }),
  z.strictObject({ way: z.literal('conditional'), url: url.optional(), ...fallback }),
])

/** @param resolveKey looks up what a reference to a key names. */
export function toSending(
  sending: z.output<typeof sendingSchema>,
  resolveKey: (reference: string) => KeySource,
): SendingDefinition {
  if (sending.way === 'public') return sending
  // A key that is given as text is text.
  const { authKey } = sending
  return { ...sending, authKey: authKey === undefined ? undefined : (resolveKey(authKey) as Hex) }
}
