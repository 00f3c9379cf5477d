import { keyLimits } from '../api/adminSchemas.js'
import { defined } from '../base/defined.js'
import { ConfigError } from '../errors/configError.js'
import type { KeyRestrictions } from '../store/tenants/keys.js'
import type { Flags } from './onStore.js'

/** Each limit by the flag that gives it. */
const flagOf = {
  scopes: '--scopes',
  methods: '--methods',
  allowedOrigins: '--origins',
  allowedIps: '--ips',
  expiresAt: '--expires',
} as const

/** The limits of a key as the administration API takes them, lists comma separated. */
export function parseKeyLimits(flags: Flags): Partial<KeyRestrictions> {
  const list = (text: string | undefined) => text?.split(',').map((item) => item.trim())
  const parsed = keyLimits.partial().safeParse({
    scopes: list(flags.scopes),
    methods: list(flags.methods),
    allowedOrigins: list(flags.origins),
    allowedIps: list(flags.ips),
    expiresAt: flags.expires,
  })
  if (parsed.success) {
    const { expiresAt, ...rest } = parsed.data
    return { ...defined(rest), ...(expiresAt && { expiresAt: new Date(expiresAt) }) }
  }
  const [issue] = parsed.error.issues
  const name = flagOf[issue?.path[0] as keyof typeof flagOf]
  throw new ConfigError(`${name}: ${issue?.message ?? 'is wrong'}.`)
}
