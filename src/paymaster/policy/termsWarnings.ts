import { isDeepStrictEqual } from 'node:util'
import { canBeMet } from './calls/constraint.js'
import type { AllowedCall, Constraint } from './policy.js'
import { type PolicyTerms, termsSchema } from './policySchema.js'

/** What somebody should know before well-formed terms bind anybody, and the path of the member that it is about. */
type TermsWarning = { readonly path: string; readonly message: string }

/** A policy that applies together with the draft. */
type Neighbour = { readonly name: string; readonly terms: PolicyTerms }

export type TermsSurroundings = {
  /** Unix seconds */
  readonly now: number
  /** The chains of the configuration; undefined = not known. */
  readonly served: ReadonlySet<number> | undefined
  /** Active policies of the same app, asked before the draft and after it. The first that pays is enough. */
  readonly before: readonly Neighbour[]
  readonly after: readonly Neighbour[]
}

const NOTHING = 'the policy passes nothing.'

/** Where terms can never apply, a rule can never pass, or a rule means nothing; and what surprises. */
export function termsWarnings(
  terms: PolicyTerms,
  { now, served, before, after }: TermsSurroundings,
): readonly TermsWarning[] {
  const taker = before.find((each) => isUnrestricted(each.terms))
  const unreached = isUnrestricted(terms) ? after : []
  const warnings: readonly (readonly [isSo: boolean, path: string, message: string])[] = [
    ...timeWarnings(terms, now),
    ...chainWarnings(terms, served),
    ...senderWarnings(terms),
    [
      terms.deploymentOnly && terms.factories?.length === 0,
      'factories',
      `names none, and deploymentOnly wants one: ${NOTHING}`,
    ],
    [
      terms.maxFeePerGas === 0n,
      'maxFeePerGas',
      `is 0, and no operation pays so little: ${NOTHING}`,
    ],
    ...terms.budgets.flatMap(({ limit, unit }, place) => [
      [limit === 0n, `budgets.${place}.limit`, `is 0: ${NOTHING}`] as const,
      [
        unit === 'usd',
        `budgets.${place}.limit`,
        'in USD needs a price of the native coin: where none is configured, it refuses.',
      ] as const,
    ]),
    [
      !boundsSenders(terms) && terms.allowSenders === undefined && !isUnrestricted(terms),
      'budgets',
      "limit no sender: anyone with the app's key can bundle sponsored operations and keep their tips.",
    ],
    ...callWarnings(terms),
    [
      terms.webhookMode === 'always',
      'webhookMode',
      'wants the approval of a webhook: an app without one is refused.',
    ],
    [isUnrestricted(terms), '', 'restrict nothing: every request is sponsored.'],
    [
      taker !== undefined,
      '',
      `are never reached: the earlier policy ${taker?.name} accepts every request.`,
    ],
    [
      unreached.length > 0,
      '',
      `accept everything: later policies are never reached (${unreached.map(({ name }) => name).join(', ')}).`,
    ],
  ]
  return warnings.flatMap(([isSo, path, message]) => (isSo ? [{ path, message }] : []))
}

type Warnings = readonly (readonly [isSo: boolean, path: string, message: string])[]

function timeWarnings({ validFrom, validUntil }: PolicyTerms, now: number): Warnings {
  const [from, until] = [validFrom ?? 0, validUntil ?? Number.POSITIVE_INFINITY]
  return [
    [until < now, 'validUntil', `is over: ${NOTHING}`],
    [from > until, 'validFrom', `is after validUntil: ${NOTHING}`],
    [from > now && from <= until, 'validFrom', `has not come yet: until then ${NOTHING}`],
  ]
}

function chainWarnings({ chains }: PolicyTerms, served: TermsSurroundings['served']): Warnings {
  const away = served === undefined ? [] : (chains ?? []).filter((chain) => !served.has(chain))
  const isAll = away.length === chains?.length
  const named = `name what is not served here (${away.join(', ')})`
  return [[away.length > 0, 'chains', isAll ? `${named}: ${NOTHING}` : `${named}.`]]
}

function senderWarnings({ allowSenders = [], denySenders }: PolicyTerms): Warnings {
  const denied = new Set(denySenders)
  const both = allowSenders.filter((sender) => denied.has(sender))
  const isAll = both.length === allowSenders.length
  const message = isAll
    ? `are all in denySenders too: ${NOTHING}`
    : `are in denySenders too, which decides: ${both.length} of ${allowSenders.length}.`
  return [[both.length > 0, 'allowSenders', message]]
}

function callWarnings({ calls }: PolicyTerms): Warnings {
  const anything = calls?.allow.findIndex(isAnything) ?? -1
  return [
    [
      anything >= 0,
      `calls.allow.${anything}`,
      'allows any function of any contract: the other rules on calls mean nothing.',
    ],
    [
      calls?.allowDelegateCalls === true,
      'calls.allowDelegateCalls',
      'lets foreign code run as the account: what it does is not checked.',
    ],
    ...contradictions(calls?.allow ?? []),
  ]
}

/** A warning for each argument of an allowed call of which no value passes. */
function contradictions(allow: readonly AllowedCall[]): Warnings {
  const unmet = allow.map(unmetPaths)
  const isAll = unmet.every((paths) => paths.length > 0)
  const message = isAll
    ? `can be met by no value: ${NOTHING}`
    : 'can be met by no value: this call is never paid for.'
  return unmet.flatMap((paths, place) =>
    paths.map((path) => [true, `calls.allow.${place}.where.${path}`, message] as const),
  )
}

/** The positions of arguments whose constraints no value meets. */
function unmetPaths({ function: called, where }: AllowedCall): readonly string[] {
  const byPath = new Map<string, [Constraint, ...Constraint[]]>()
  for (const constraint of where) {
    const path = constraint.path.join('.')
    const others = byPath.get(path)
    if (others) others.push(constraint)
    else byPath.set(path, [constraint])
  }
  const unmet = [...byPath].filter(
    ([, constraints]) => !canBeMet(called?.inputs ?? [], constraints),
  )
  return unmet.map(([path]) => path)
}

function isAnything({ target, function: called, maxValue }: AllowedCall): boolean {
  return target === 'any' && called === undefined && maxValue === undefined
}

/** Whether terms bound what one sender gets in wei, USD or operations. */
export function boundsSenders({ budgets }: PolicyTerms): boolean {
  return budgets.some(({ per }) => per === 'sender')
}

/** Do the terms pay for whatever is asked, now and always? */
function isUnrestricted(terms: PolicyTerms): boolean {
  return isDeepStrictEqual(terms, unrestricted)
}

const unrestricted = termsSchema.parse({})
