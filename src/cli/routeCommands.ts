import { type Command, Option } from 'commander'
import { z } from 'zod'
import { runRoute } from '../api/admin/runRoute.js'
import type { AdminContext } from '../api/adminContext.js'
import { ConfigError } from '../base/errors/configError.js'
import { PurserError } from '../base/errors/purserError.js'
import { NotFoundError } from '../base/errors/restErrors.js'
import type { Config, OptionName } from '../config/options.js'
import type { Database } from '../db/database.js'
import { findAccount } from '../tenants/accounts.js'
import type { Route } from '../tenants/route.js'
import { commandActor } from './commandActor.js'
import { type Flags, type Invocation, onStore } from './onStore.js'
import { type CommandStore, placeOf } from './openStore.js'
import { printAnswer } from './printAnswer.js'
import { requireApp, unknownObject } from './requireApp.js'

type Members = Readonly<Record<string, unknown>>

/** The parts of a command that do not follow from its route. */
type CommandTerms = {
  /** Members of the request that flags need not give. */
  readonly defaults?: Members
  /** The body, of the members that flags gave. */
  readonly body?: (
    given: Members,
    flags: Flags,
    invocation: Invocation,
  ) => Members | Promise<Members>
  /** Flags in place of those for the members of the body: the flag and its help. */
  readonly flags?: Readonly<Record<string, string>>
  readonly settings?: readonly OptionName[]
  /** The columns of a list in their order, as `column` or `column=member`; absent = all members. */
  readonly columns?: string
  /** An item of a list as a row, where names do not say it. */
  readonly row?: (item: never) => object
  readonly print?: (answer: never, invocation: Invocation) => void | Promise<void>
}

/** The commands of a group: how each differs from its route, and what all of them need. */
export type GroupTerms = {
  readonly commands?: Readonly<Record<string, CommandTerms>>
  /** Whether each needs an account, by --account or of the app by --app. */
  readonly isOfAccount?: boolean
  /** The app of an object, for commands that need not name it. */
  readonly appOf?: (database: Database, id: string) => Promise<string | undefined>
  /** Further parts of the service that the routes work on. */
  readonly parts?: (store: CommandStore, config: Config, flags: Flags) => Partial<AdminContext>
}

/**
 * Gives `group` a command for each route whose contract names one. A command works on the database by the route of the
 * administration API: the same checks, the same change, the same entry in the audit log.
 */
export function defineRoutes(
  group: Command,
  routes: readonly Route[],
  terms: GroupTerms = {},
): void {
  for (const route of routes)
    if (route.command !== undefined) defineRoute(group, route, route.command, terms)
}

function defineRoute(group: Command, route: Route, name: string, terms: GroupTerms): void {
  const own = terms.commands?.[name] ?? {}
  const { subject, others } = paramsOf(route, group.name())
  const command = group
    .command(name)
    .description(route.summary.charAt(0).toLowerCase() + route.summary.slice(1))
  if (subject !== undefined) command.argument('<id>', `the ${group.name()}`)
  for (const param of others) {
    const option = new Option(`--${flagNameOf(param)} <id>`, `its ${flagNameOf(param)}`)
    command.addOption(
      option.makeOptionMandatory(terms.appOf === undefined || subject === undefined),
    )
  }
  const query = membersOf(route.query)
  const body = own.flags === undefined ? membersOf(route.body) : []
  for (const { option, path, isRequired } of [...query, ...body])
    command.addOption(option.makeOptionMandatory(isRequired && !(path[0]! in (own.defaults ?? {}))))
  for (const [flag, help] of Object.entries(own.flags ?? {})) command.option(flag, help)
  const isOfAccount = route.role !== undefined && !route.path.includes('{appId}')
  if (isOfAccount) command.option('--account <id>', 'its account')
  const has = (flag: string) => command.options.some(({ long }) => long === flag)
  if (terms.isOfAccount && !has('--app')) command.option('--app <id>', 'in place of --account')
  command.option('--json', 'print the response of the admin API as JSON')

  const run = async (invocation: Invocation) => {
    const { store, config, flags, id } = invocation
    const { database } = store
    const needsAccount = terms.isOfAccount ?? route.method === 'POST'
    const accountId = isOfAccount ? await accountOf(database, flags, needsAccount) : undefined
    const appId = flags.app ?? (await terms.appOf?.(database, id))
    const given = subject === undefined ? {} : { [subject]: id }
    const params = {
      ...Object.fromEntries(others.map((one) => [one, flags[flagNameOf(one)] ?? ''])),
    }
    if (others.includes('appId')) params.appId = appId ?? ''
    const asked = {
      params: { ...params, ...given },
      query: { ...pick(own.defaults, query), ...valuesOf(query, flags) },
      body: async () => {
        const members = { ...pick(own.defaults, body), ...valuesOf(body, flags) }
        if (route.method === 'PATCH') requireChange(members, body)
        return own.body?.(members, flags, invocation) ?? members
      },
    }
    const caller = { accountId, actor: commandActor(), user: undefined }
    const context = { database, ...terms.parts?.(store, config, flags) }
    const answer = await runRoute(route, caller, asked, { context }).catch((error) => {
      throw explained(error, [...query, ...body], { ...flags, [subject ?? '']: id }, group.name())
    })
    if (flags.json !== undefined) console.log(JSON.stringify(answer, undefined, 2))
    else if (own.print !== undefined) await own.print(answer as never, invocation)
    else {
      printAnswer(answer as Members, { ...own, group: group.name(), command: name, id })
      // Nothing found is often the wrong database. A script needs no such hint.
      const { items } = answer as Members
      if (process.stdout.isTTY && Array.isArray(items) && items.length === 0)
        console.error(`The database that was asked is ${placeOf(config)}.`)
    }
  }
  onStore(command, run, own.settings)
}

/** Throws ConfigError where no flag of a change was given. */
function requireChange(given: Members, members: readonly Member[]): void {
  if (members.length === 0 || Object.keys(given).length > 0) return
  const flags = members.map(({ option }) => option.long).join(', ')
  const lift = members.some(({ isNullable }) => isNullable) ? '; null removes a limit' : ''
  throw new ConfigError(`Name what changes by ${flags}${lift}.`)
}

/** The parameter of a path that is the command's argument, and those that are flags. */
function paramsOf({ path }: Route, group: string) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const last = names.at(-1)
  const isPlace = last === 'chainId' || (last === 'appId' && group !== 'app')
  const subject = isPlace ? undefined : last
  return { subject, others: names.filter((name) => name !== subject) }
}

/** The account that --account names, or that of the app that --app names. Throws ConfigError. */
async function accountOf(
  database: Database,
  { account, app }: Flags,
  isNeeded: boolean,
): Promise<string | undefined> {
  if (account !== undefined) {
    const found = await findAccount(database, account)
    if (found === undefined || found.revokedAt !== null) throw unknownObject('account', account)
    return account
  }
  if (app !== undefined) return (await requireApp(database, app)).accountId
  if (isNeeded) throw new ConfigError('Name the account by --account, or one of its apps by --app.')
  return undefined
}

/** A refusal of the route in the words of the command line. */
function explained(
  error: unknown,
  members: readonly Member[],
  given: Flags,
  group: string,
): unknown {
  if (!(error instanceof PurserError)) return error
  if (error.code === -32004 || error instanceof NotFoundError) {
    const what = error.message.replace(/ not found$/, '').toLowerCase()
    const id = given[what] ?? given[`${what}Id`] ?? Object.values(given).at(-1)
    return group.endsWith(what) || what === 'app' || what === 'account'
      ? unknownObject(what, id)
      : error
  }
  const field = error.data?.field
  if (typeof field !== 'string') return error
  const member = members.find(({ path }) => `${field}.`.startsWith(`${path.join('.')}.`))
  if (member === undefined) return error
  const { option, choices } = member
  if (choices !== undefined)
    return new ConfigError(`${option.long} must be one of ${choices.join(', ')}.`)
  return new ConfigError(
    `${option.long} ${error.message.replace(field, '').trim()}.`.replace(/\.+$/, '.'),
  )
}

/** A member of a request as a flag. */
type Member = {
  readonly path: readonly string[]
  readonly option: Option
  readonly kind: string | undefined
  readonly choices: readonly string[] | undefined
  readonly isRequired: boolean
  /** Whether it, or what it is a member of, may be null: by the text `null`. */
  readonly isNullable: boolean
}

/** What of JSON schemas we read. */
type Shape = {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Shape[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
}

function membersOf(schema: z.ZodType | undefined): readonly Member[] {
  if (schema === undefined) return []
  return walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape, [], true)
}

function walk(
  shape: Shape,
  path: readonly string[],
  isRequired: boolean,
  isInNullable = false,
): readonly Member[] {
  const isNullable = isInNullable || shape.anyOf?.some(({ type }) => type === 'null') === true
  const kind = shape.anyOf?.find(({ type }) => type !== 'null') ?? shape
  const { properties, required = [], items, minimum, maximum } = kind
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, member]) =>
      walk(member, [...path, name], isRequired && required.includes(name), isNullable),
    )
  // What has members of any name is given by a file.
  if (kind.type === undefined || kind.type === 'object') return []
  const known = kind.enum ?? items?.enum
  const choices = known !== undefined && known.length <= MOST_CHOICES ? known : undefined
  const name = path.at(-1) ?? ''
  const help = [
    ...(helps[name] === undefined ? [] : [helps[name]]),
    ...(choices === undefined ? [] : [choices.join(', ')]),
    ...(minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
      ? [`${minimum} to ${maximum}`]
      : []),
    ...(kind.type === 'array' ? ['comma separated'] : []),
    ...(shape.default === undefined ? [] : [`${shape.default} when absent`]),
  ]
  const value = kind.type === 'boolean' ? '[boolean]' : '<value>'
  const option = new Option(`--${flagNameOf(name)} ${value}`, help.join('; '))
  return [{ path, option, kind: kind.type, choices, isRequired, isNullable }]
}

/** Choices that fit into a line of help. */
const MOST_CHOICES = 10

/** Members whose flag is not their name. */
const flagNames: Readonly<Record<string, string>> = {
  webhookUrl: 'url',
  requestType: 'request',
  eventTypes: 'events',
  allowedOrigins: 'origins',
  allowedIps: 'ips',
  onlyFailed: 'failed',
  before: 'after',
  wei: 'amount',
  alertWei: 'below',
  alertDays: 'days',
}

/** The help of members that their name and schema do not explain. */
const helps: Readonly<Record<string, string>> = {
  name: 'for people',
  email: 'used to sign in',
  url: 'the receiver',
  webhookUrl: 'what is called',
  payload: 'extended: also send the operation',
  onFailure: 'what happens when it does not answer',
  deadlineMs: 'milliseconds',
  perSecond: 'requests per second over all processes',
  perMinute: 'the same in a minute',
  perDay: 'the same in a day, in UTC',
  methods: 'JSON-RPC methods; all of the scopes when absent',
  allowedOrigins: 'such as https://dapp.example; any when absent',
  allowedIps: 'addresses and CIDR ranges; any when absent',
  expiresAt: 'such as 2030-01-31T12:00:00Z; never when absent',
  overlapSeconds: 'how long both keys work',
  before: 'cursor from the previous page',
  since: 'only those from then on, such as 2030-01-31T12:00:00Z',
  onlyFailed: 'only those whose delivery was given up',
  eventId: 'only this one',
  hash: 'prefix of its hash',
  wei: 'how much, in whole coins of the chain; negative to take it back',
  reference: 'such as an invoice number; it counts once',
  alertWei: 'amount in whole coins of the chain',
  alertDays: 'days of use at the rate of the last week',
  maxFeePerGas: 'wei',
  maxPriorityFeePerGas: 'wei',
  blockTime: 'Unix seconds',
  callData: 'bytes in hexadecimal',
  paymasterAndData: 'bytes as the EntryPoint has them; 0x: none',
  abi: 'JSON as compilers write it, or one function or error on each line; empty for none',
}

/** `onFailure` → `on-failure`; the unit or kind at the end is no part of it: `deadlineMs` → `deadline`. */
function flagNameOf(name: string): string {
  const short = flagNames[name] ?? name.replace(/(Id|At|Ms|Seconds)$/, '')
  return short.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The members that flags give. */
function valuesOf(members: readonly Member[], flags: Flags): Members {
  const values: Record<string, unknown> = {}
  for (const { path, option, kind, isNullable } of members) {
    const text = flags[option.attributeName()]
    if (text === undefined) continue
    let place = values
    for (const name of path.slice(0, -1)) {
      place[name] ??= {}
      place = place[name] as Record<string, unknown>
    }
    place[path.at(-1) ?? ''] = isNullable && text === 'null' ? null : parseValue(text, kind)
  }
  return values
}

/** What is no value of the kind goes on as text, and is refused. */
function parseValue(text: unknown, kind: string | undefined): unknown {
  if (kind === 'array')
    return String(text)
      .split(',')
      .map((item) => item.trim())
  if (kind === 'boolean')
    return text === true || text === 'true' ? true : text === 'false' ? false : text
  return kind !== 'string' && /^-?\d+$/.test(String(text)) ? Number(text) : text
}

function pick(defaults: Members = {}, members: readonly Member[]): Members {
  return Object.fromEntries(
    Object.entries(defaults).filter(([name]) => members.some(({ path }) => path[0] === name)),
  )
}
