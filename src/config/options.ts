import { z } from 'zod'
import { chainSchema } from './chainSchema.js'

/**
 * Every setting of Purser, declared once: its key in the configuration file, its flag, its
 * environment variable, its help and its default all follow from one row.
 */
type OptionSpec<Schema extends z.ZodType> = {
  /** Shown after the flag, e.g. `<dir>`; absent for a switch. */
  readonly argument?: string
  readonly help: string
  readonly schema: Schema
}

const option = <Schema extends z.ZodType>(spec: OptionSpec<Schema>): OptionSpec<Schema> => spec

const text = z.string().min(1)
/** Flags and environment variables are text; the file may hold the value itself. */
const number = z.coerce.number()
const list = z.union([z.array(text), text.transform((value) => value.split(','))])
const flag = z.union([
  z.boolean(),
  z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true'),
])
const json = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value, context) => {
    if (typeof value !== 'string') return value
    try {
      return JSON.parse(value)
    } catch {
      context.addIssue('must be JSON')
      return z.NEVER
    }
  }, schema)

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
    help: 'the address under which users reach this service, for printed URLs',
    schema: z.url().optional(),
  }),
  databaseUrl: option({
    argument: '<url>',
    help: 'PostgreSQL server to use; absent = the embedded one in the data folder',
    schema: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  }),
  masterKey: option({
    argument: '<key>',
    help: '32 bytes (hex or base64) that encrypt stored secrets; absent = a file in the data folder',
    schema: text.optional(),
  }),
  logLevel: option({
    argument: '<level>',
    help: 'trace, debug, info, warn, error or silent',
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  }),
  chains: option({
    argument: '<json>',
    help: 'list of chains, see docs/configuration.md',
    schema: json(z.array(chainSchema)).default([]),
  }),
  embeddedChain: option({
    help: 'start an embedded development chain beside the configured ones',
    schema: flag.default(false),
  }),
  rpcUrl: option({
    argument: '<url>',
    help: 'node to use as development chain instead of the embedded one',
    schema: z.url({ protocol: /^https?$/ }).optional(),
  }),
  blockTime: option({
    argument: '<seconds>',
    help: 'block time of the embedded chain; absent = a block per transaction',
    schema: number.pipe(z.number().positive().max(3_600)).optional(),
  }),
  webhookAllow: option({
    argument: '<list>',
    help: 'hosts and CIDR ranges in private networks that webhooks may use, comma separated',
    schema: list.default([]),
  }),
  minSponsorshipSeconds: option({
    argument: '<seconds>',
    help: 'shortest expiryDuration that a sponsorship may ask for',
    schema: number.pipe(z.int().min(1)).default(60),
  }),
  maxSponsorshipSeconds: option({
    argument: '<seconds>',
    help: 'longest expiryDuration that a sponsorship may ask for',
    schema: number.pipe(z.int().min(1)).default(3_600),
  }),
} as const

export type OptionName = keyof typeof options

export type Config = {
  readonly [Name in OptionName]: z.output<(typeof options)[Name]['schema']>
}

const dashed = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `blockTime` → `--block-time` */
export const flagOf = (name: OptionName): string => `--${dashed(name)}`

/** `blockTime` → `PURSER_BLOCK_TIME` */
export const variableOf = (name: OptionName): string =>
  `PURSER_${dashed(name).replaceAll('-', '_').toUpperCase()}`
