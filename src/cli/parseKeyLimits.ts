import { keyLimits } from '../admin/keyLimits.js'
import { quotas } from '../admin/schemas.js'
import { defined } from '../base/defined.js'
import { ConfigError } from '../errors/configError.js'
import type { Quotas } from '../store/schema.js'
import type { KeyRestrictions } from '../store/tenants/keys.js'
import type { Flags } from './onStore.js'

/** Each limit by the flag that gives it. */
const flagOf = {
  scopes: '--scopes',
  methods: '--methods',
  allowedOrigins: '--origins',
  allowedIps: '--ips',
  expiresAt: '--expires',
  quotas: '--per-second, --per-minute and --per-day',
} as const

/** The quotas that flags name; null = none. */
function quotasOf({ perSecond, perMinute, perDay }: Flags): Quotas | null {
  const limits = defined({ perSecond, perMinute, perDay })
  const entries = Object.entries(limits).map(([name, text]) => [name, Number(text)])
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

/** The quotas of a key or an app as flags name them; null = none. Throws ConfigError. */
export function parseQuotas(flags: Flags): Quotas | null {
  const parsed = quotas.safeParse(quotasOf(flags))
  if (parsed.success) return parsed.data
  throw new ConfigError(`${flagOf.quotas} must be whole numbers from 1 to 1,000,000,000.`)
}

/** The limits of a key as the administration API takes them, lists comma separated. */
export function parseKeyLimits(flags: Flags): Partial<KeyRestrictions> {
  const list = (text: string | undefined) => text?.split(',').map((item) => item.trim())
  const parsed = keyLimits.partial().safeParse({
    scopes: list(flags.scopes),
    methods: list(flags.methods),
    allowedOrigins: list(flags.origins),
    allowedIps: list(flags.ips),
    expiresAt: flags.expires,
    quotas: quotasOf(flags) ?? undefined,
  })
  if (parsed.success) {
    const { expiresAt, ...rest } = parsed.data
    return { ...defined(rest), ...(expiresAt && { expiresAt: new Date(expiresAt) }) }
  }
  const [issue] = parsed.error.issues
  const name = flagOf[issue?.path[0] as keyof typeof flagOf]
  throw new ConfigError(`${name}: ${issue?.message ?? 'is wrong'}.`)
}
