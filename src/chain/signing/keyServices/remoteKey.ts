import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { SignerUnavailableError } from '../../../base/errors/processErrors.js'
import { createOutboundClient } from '../../../base/outbound/guardedRequest.js'
import { bareHost, createNetworkGuard } from '../../../base/outbound/networkGuard.js'
import type { ExecutorTransaction } from '../executorTransaction.js'
import type { SignatureNumbers } from '../signature.js'

/** A key in a service. All its functions throw SignerUnavailableError. */
export type RemoteKey = {
  /** Its address by the service; undefined where only the configuration says it. */
  readonly findAddress: (() => Promise<Address>) | undefined
  /** A signature of the digest of `transaction`; whose it is and what it signs is checked by the caller. */
  readonly sign: (digest: Hex, transaction: ExecutorTransaction) => Promise<SignatureNumbers>
}

/** Milliseconds that one answer may take. */
const PATIENCE = 5_000

/** A POST where it has a body, else a GET. */
type ServiceRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * One exchange with a key service.
 * @throws SignerUnavailableError which names the key and the step
 */
export type Ask = <T>(step: string, request: ServiceRequest, schema: z.ZodType<T>) => Promise<T>

/** Asks the service of a key at the hosts of `urls`, which the operator configured: they may be private. */
export function createAsk(key: string, urls: readonly string[]): Ask {
  const hosts = urls.map((url) => bareHost(new URL(url).hostname))
  const client = createOutboundClient(createNetworkGuard(hosts), {
    maxBytes: 64 * 1024,
    readsErrors: true,
  })
  return async (step, { url, headers, body }, schema) => {
    const { response } = await client.request(
      {
        url: new URL(url),
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', ...headers },
        body: body === undefined ? undefined : Buffer.from(body),
      },
      AbortSignal.timeout(PATIENCE),
    )
    if (!response.ok) {
      const { outcome, status, reason } = response
      const text = outcome === 'http_status' ? `HTTP ${status} ${codeIn(response.body)}` : reason
      throw new SignerUnavailableError(key, `${step}: ${text.trim().replace(/\.$/, '')}`)
    }
    const parsed = schema.safeParse(parse(response.body))
    if (parsed.success) return parsed.data
    throw new SignerUnavailableError(key, `${step}: it answered something else than expected`)
  }
}

/** JSON, or the text itself: web3signer answers a signature without quotes. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const nested = z.object({
  status: z.string().optional(),
  code: z.union([z.string(), z.number()]).optional(),
  message: z.string().optional(),
})
const failure = nested.extend({
  __type: z.string().optional(),
  error: z.union([z.string(), nested]).optional(),
})

/** The code by which AWS, Google, Azure, OAuth and Turnkey name an error, in the place of each. */
function codeIn(body = ''): string {
  const { success, data } = failure.safeParse(parse(body))
  if (!success) return ''
  const { __type, error } = data
  const inner = typeof error === 'string' ? error : (error?.status ?? error?.code ?? error?.message)
  const code = __type?.split('#').at(-1) ?? inner ?? data.message ?? data.code ?? ''
  return String(code)
    .replace(/[^\x20-\x7e]/g, ' ')
    .slice(0, 120)
}

/**
 * What `read` makes of an answer.
 * @throws SignerUnavailableError when it is not what it should be
 */
export function requireReadable<T>(key: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new SignerUnavailableError(key, (cause as Error).message, cause)
  }
}

/** An OAuth 2.0 access token, as token endpoints answer it. */
export const tokenSchema = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive(),
})

/** Seconds before its end in which a token is not used any more. */
const TOKEN_MARGIN = 60

/**
 * Runs a call with a token that is kept until shortly before its end, and dropped when the call fails: it may have
 * been revoked.
 */
export function withToken(
  fetchToken: () => Promise<z.output<typeof tokenSchema>>,
): <T>(call: (headers: Readonly<Record<string, string>>) => Promise<T>) => Promise<T> {
  let kept: { readonly token: string; readonly until: number } | undefined
  return async (call) => {
    if (kept === undefined || performance.now() > kept.until) {
      const { access_token: token, expires_in: seconds } = await fetchToken()
      kept = { token, until: performance.now() + (seconds - TOKEN_MARGIN) * 1_000 }
    }
    try {
      return await call({ authorization: `Bearer ${kept.token}` })
    } catch (error) {
      kept = undefined
      throw error
    }
  }
}
