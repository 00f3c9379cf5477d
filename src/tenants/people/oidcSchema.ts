import { z } from 'zod'
import { roles } from '../../base/vocabulary.js'

const text = z.string().min(1)
const domain = z
  .string()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'must be a domain, such as example.com')
  .transform((value) => value.toLowerCase())

const account = z.uuid()
const rule = z.union(
  [
    z.strictObject({ group: text, account, role: z.enum(roles) }),
    z.strictObject({ domain, account, role: z.enum(roles) }),
  ],
  'must be {"group" or "domain", "account": its id, "role"}',
)

/** http is for a provider on this machine. */
function isSafeIssuer(value: string): boolean {
  const { protocol, hostname } = new URL(value)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** An identity provider by which users sign in, and what they may do; its secret is an option of its own. */
export const oidcSchema = z.strictObject({
  issuer: z.url({ protocol: /^https?$/ }).refine(isSafeIssuer, 'must be https'),
  clientId: text,
  /** The words behind "Sign in with". */
  name: z.string().min(1).max(60).default('single sign-on'),
  scopes: z.array(text).default(['openid', 'email', 'profile']),
  /** Of e-mail addresses for which the provider is believed, in lower case. */
  domains: z.array(domain).min(1),
  /** The claim that holds the names of groups. */
  groupsClaim: text.default('groups'),
  /** Roles in accounts for people of one group, or of one domain of e-mail addresses. */
  roles: z.array(rule).max(200).default([]),
})
