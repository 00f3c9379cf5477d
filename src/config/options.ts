import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { exactRecord } from '../base/exactRecord.js'
import { logLevels } from '../base/vocabulary.js'
import { defaultTerms } from '../paymaster/sponsorshipTerms.js'
import { chainEntry } from './chainPresets.js'
import { oidcSchema } from '../tenants/people/oidcSchema.js'

/**
 * Every setting of Purser, declared once: its key in the configuration file, its flag, its
 * environment variable, its help and its default all follow from one row.
 */
type OptionSpec<Schema extends z.ZodType> = {
  /** Shown after the flag, e.g. `<dir>`; absent for a switch. */
  readonly argument?: string
  readonly help: string
  readonly schema: Schema
  /** The value must not be read by others: it may be in a file that the variable `…_FILE` names. */
  readonly isSecret?: boolean
}

function option<Schema extends z.ZodType>(spec: OptionSpec<Schema>): OptionSpec<Schema> {
  return spec
}

const text = z.string().min(1)
/** Flags and environment variables are text; the file may hold the value itself. What is no number is none, not 0. */
const number = z.preprocess(
  (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
  z.number(),
)
const list = z.union([z.array(text), text.transform((value) => value.split(','))])
const flag = z.union([
  z.boolean(),
  z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true'),
])
function json<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value, context) => {
    if (typeof value !== 'string') return value
    try {
      return JSON.parse(value)
    } catch {
      context.addIssue('must be JSON')
      return z.NEVER
    }
  }, schema)
}

/** `127.0.0.1:4338`, `[::1]:4338` */
function toListener(value: string, context: z.RefinementCtx): Listener {
  const [, host = '', port = ''] = /^\[?([^\s[\]]+?)\]?:(\d{1,5})$/.exec(value) ?? []
  if (host !== '' && Number(port) <= 65_535) return { host, port: Number(port) }
  context.addIssue('must be host:port, such as 127.0.0.1:4338')
  return z.NEVER
}

/** An address to listen on; port 0 = any free one. */
type Listener = { readonly host: string; readonly port: number }

/** An entry that is none would trust nobody, or be silently another one. */
function isAddressOrRange(text: string): boolean {
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text)
}
const NO_ADDRESS = 'must be addresses or CIDR ranges, such as 10.0.0.0/8'

const roles = ['api', 'bundler'] as const
export type ProcessRole = (typeof roles)[number]

export const options = {
  data: option({
    argument: '<dir>',
    help: 'folder for the embedded database, the development chain and dev.json',
    schema: text.default('.purser'),
  }),
  port: option({
    argument: '<number>',
    help: 'port to listen on; 0 = any free one',
    schema: number.pipe(z.int().min(0).max(65_535)).default(4337),
  }),
  host: option({
    argument: '<address>',
    help: 'address to listen on',
    schema: text.default('127.0.0.1'),
  }),
  publicUrl: option({
    argument: '<url>',
    help: 'public address of this service, for printed URLs',
    schema: z.url().optional(),
  }),
  adminListen: option({
    argument: '<address>',
    help: 'host:port on which administration and metrics are served instead of on the public port',
    schema: text.transform(toListener).optional(),
  }),
  adminUrl: option({
    argument: '<url>',
    help: 'https address of the administration for browsers; default publicUrl if it is https, otherwise localhost only',
    schema: z.url({ protocol: /^https$/, error: 'must be an https URL' }).optional(),
  }),
  adminEmail: option({
    argument: '<email>',
    help: 'e-mail address of the first operator, created at a start without users',
    schema: text.optional(),
  }),
  adminPassword: option({
    argument: '<password>',
    help: 'password of that first user; later changes of this setting have no effect',
    schema: text.optional(),
    isSecret: true,
  }),
  oidc: option({
    argument: '<json>',
    help: 'identity provider (OpenID Connect) for sign-in, see docs/operate/console.md',
    schema: json(oidcSchema).optional(),
  }),
  oidcClientSecret: option({
    argument: '<secret>',
    help: 'client secret at that provider; default: a public client',
    schema: text.optional(),
    isSecret: true,
  }),
  databaseUrl: option({
    argument: '<url>',
    help: 'PostgreSQL server; default: the embedded one in the data folder',
    schema: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres URL' }).optional(),
    isSecret: true,
  }),
  masterKey: option({
    argument: '<key>',
    help: '32 bytes (hex or base64) that encrypt stored secrets; default: a file in the data folder',
    schema: text.optional(),
    isSecret: true,
  }),
  masterKeyPrevious: option({
    argument: '<key>',
    help: 'the previous master key, accepted while stored secrets are rewrapped',
    schema: text.optional(),
    isSecret: true,
  }),
  role: option({
    argument: '<list>',
    help: 'roles of this process: api, bundler, or both (comma separated)',
    schema: list
      .pipe(z.array(z.enum(roles, `must be ${roles.join(' or ')}`)).min(1))
      .default([...roles]),
  }),
  drainSeconds: option({
    argument: '<seconds>',
    help: 'time between "not ready" and the stop of serving, in seconds',
    schema: number.pipe(z.number().min(0).max(600)).default(1),
  }),
  logLevel: option({
    argument: '<level>',
    help: 'trace, debug, info, warn, error or silent',
    schema: z.enum(logLevels).default('info'),
  }),
  chains: option({
    argument: '<json>',
    help: 'list of chains, see docs/operate/configuration.md',
    schema: json(z.array(chainEntry)).default([]),
  }),
  embeddedChain: option({
    help: 'start an embedded development chain in addition to the configured ones',
    schema: flag.default(false),
  }),
  rpcUrl: option({
    argument: '<url>',
    help: 'node to use as development chain instead of the embedded one',
    schema: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  }),
  forkUrl: option({
    argument: '<url>',
    help: 'node of a chain to fork at its newest block',
    schema: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  }),
  webhookAllow: option({
    argument: '<list>',
    help: 'hosts and CIDR ranges in private networks that webhooks may use, comma separated',
    schema: list.default([]),
  }),
  debugMethods: option({
    help: 'serve debug_bundler_* for tests of the bundler; only on a loopback host',
    schema: flag.default(false),
  }),
  maxSponsorshipSeconds: option({
    argument: '<seconds>',
    help: 'longest validity of a sponsorship; a longer expiryDuration is shortened to it',
    schema: number.pipe(z.int().min(defaultTerms.minDuration)).default(defaultTerms.maxDuration),
  }),
  operatorToken: option({
    argument: '<token>',
    help: 'secret of 32 characters or more for administering accounts and reading metrics',
    schema: z
      .string()
      .regex(/^[!-~]{32,200}$/, 'must be 32 to 200 printable characters without blanks')
      .optional(),
    isSecret: true,
  }),
  trustedProxies: option({
    argument: '<list>',
    help: 'addresses and CIDR ranges whose X-Forwarded-For is trusted, comma separated',
    schema: list.pipe(z.array(z.string().refine(isAddressOrRange, NO_ADDRESS))).default([]),
  }),
  keyRate: option({
    argument: '<number>',
    help: 'units per second of one API key, see docs/build/api.md; 0 = no limit, also for its senders',
    schema: number.pipe(z.number().min(0)).default(10_000),
  }),
  ipRate: option({
    argument: '<number>',
    help: 'requests per second of one IP address; 0 = no limit',
    schema: number.pipe(z.number().min(0)).default(10_000),
  }),
  processes: option({
    argument: '<number>',
    help: 'number of processes on one listener; more than one needs --database-url',
    schema: number.pipe(z.int().min(1).max(64)).default(1),
  }),
  nativePrices: option({
    argument: '<json>',
    help: 'USD per native token by chain id, e.g. {"1":"3000.50"}, for budgets in USD',
    schema: json(
      exactRecord(
        z.string().regex(/^[1-9]\d*$/, 'must be a chain id'),
        z.string().regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be USD as text, like "3000.50"'),
      ),
    ).default({}),
  }),
  retentionDays: option({
    argument: '<days>',
    help: 'how long operations that ended, sponsorship decisions and refused requests are kept',
    schema: number.pipe(z.int().min(1).max(36_500)).default(90),
  }),
} as const

export type OptionName = keyof typeof options

export type Config = {
  readonly [Name in OptionName]: z.output<(typeof options)[Name]['schema']>
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `logLevel` → `--log-level` */
export function flagOf(name: OptionName): string {
  return `--${dashed(name)}`
}

/** Whether the value of an option is a secret. */
export function isSecret(name: OptionName): boolean {
  return 'isSecret' in options[name]
}

/** `logLevel` → `PURSER_LOG_LEVEL` */
export function variableOf(name: OptionName): string {
  return `PURSER_${dashed(name).replaceAll('-', '_').toUpperCase()}`
}
