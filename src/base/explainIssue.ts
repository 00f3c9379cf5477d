import { z } from 'zod'
import { nearestOf } from './suggest.js'

/** What is wrong with a value: where, and a rule in our words. */
type ExplainedIssue = { readonly path: string; readonly reason: string }

/**
 * The first problem that a schema has with a value. A member that is not known comes before one that is missing: it is
 * mostly the same one with a slip in its name.
 */
export function issueOf(error: z.ZodError, value: unknown, schema?: z.ZodType): ExplainedIssue {
  const issues = error.issues.flatMap(flattened)
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  if (issue === undefined) return { path: '', reason: 'is wrong' }
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys')
    return { path, reason: reasonOf(issue, valueAt(value, issue.path)) }
  const [key = ''] = issue.keys
  const missing = issues.flatMap(({ code, path: of }) =>
    code === 'invalid_type' && valueAt(value, of) === undefined ? [String(of.at(-1))] : [],
  )
  const known = schema === undefined ? [] : keysAt(schema, issue.path)
  const near = nearestOf(key, missing) ?? nearestOf(key, known)
  const whole = [...issue.path, key.slice(0, 60)].join('.')
  return {
    path: whole,
    reason: near === undefined ? 'is unknown' : `is unknown: did you mean "${near}"?`,
  }
}

type Issue = z.core.$ZodIssue

/** The problems of the form of a union that the value fits best: the one with the fewest. */
function flattened(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || !isOfZod(issue.message)) return [issue]
  const forms = issue.errors.filter(({ length }) => length > 0)
  const [best] = [...forms].sort((a, b) => depthOf(b) - depthOf(a) || a.length - b.length)
  if (best === undefined) return [issue]
  return best.flatMap((each) => flattened({ ...each, path: [...issue.path, ...each.path] }))
}

function depthOf(issues: readonly Issue[]): number {
  return Math.max(...issues.map(({ path, code }) => path.length + Number(code !== 'invalid_type')))
}

/** Whether a message is of the library, not ours: ours say what a value must be. */
function isOfZod(message: string): boolean {
  return /^(Invalid|Too (small|big)|Unrecognized)/.test(message)
}

const types: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const formats: Readonly<Record<string, string>> = {
  uuid: 'an id',
  url: 'a URL',
  datetime: 'a time such as 2026-11-23T08:00:00Z',
  date: 'a day such as 2026-11-23',
  email: 'an e-mail address',
}

const counted: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
  set: ['entry', 'entries'],
}

/** Whether only 0 is excluded, as by `positive()`. */
function isOpen(issue: Issue): boolean {
  return issue.code === 'too_small' && issue.minimum === 0 && issue.inclusive === false
}

function reasonOf(issue: Issue, value: unknown): string {
  if (!isOfZod(issue.message)) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined
        ? 'is missing'
        : `must be ${types[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'too_small':
    case 'too_big': {
      const isLeast = issue.code === 'too_small'
      const bound = isLeast ? issue.minimum : issue.maximum
      const things = counted[issue.origin]
      const limit = `${isLeast ? 'at least' : 'at most'} ${bound}`
      if (things === undefined) return `must be ${isOpen(issue) ? 'more than 0' : limit}`
      return `must have ${limit} ${Number(bound) === 1 ? things[0] : things[1]}`
    }
    case 'invalid_format':
      return formats[issue.format] === undefined
        ? 'does not have the right form'
        : `must be ${formats[issue.format]}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    default:
      return 'has none of the forms that are allowed'
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  )
}

/** The members that a schema knows at a path. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodPipe) return [...keysAt(schema.in, path), ...keysAt(schema.out, path)]
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((each) => keysAt(each, path))
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return keysAt(schema.unwrap(), path)
  const [key, ...rest] = path
  if (schema instanceof z.ZodArray) return keysAt(schema.element, rest)
  if (!(schema instanceof z.ZodObject)) return []
  if (key === undefined) return Object.keys(schema.shape)
  const next = (schema.shape as Record<PropertyKey, z.core.$ZodType>)[key]
  return next === undefined ? [] : keysAt(next, rest)
}
