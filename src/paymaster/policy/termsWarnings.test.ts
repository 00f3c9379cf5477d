import { expect, test } from 'vitest'
import { type TermsInput, termsSchema } from './policySchema.js'
import { type TermsSurroundings, termsWarnings } from './termsWarnings.js'

const [one, other] = [`0x${'ab'.repeat(20)}`, `0x${'CD'.repeat(20)}`]
const around: TermsSurroundings = { now: 1_000, served: new Set([10]), before: [], after: [] }
const restricted = { maxFeePerGas: '1' }

/** A call that no argument matches. */
const never = {
  target: one,
  function: 'transfer(address,uint256)',
  where: { 0: { $eq: one }, 1: { $gt: '5', $lte: '5' } },
}

const everyWarning = (terms: TermsInput, changes: Partial<TermsSurroundings> = {}) =>
  termsWarnings(termsSchema.parse(terms), { ...around, ...changes })

const warnings = (...asked: Parameters<typeof everyWarning>) =>
  everyWarning(...asked).filter(({ path }) => path !== 'budgets')

test('terms that bound no sender are warned of, unless they restrict nothing at all', () => {
  const ofSender = { per: 'sender', limit: { count: 5 }, window: 'day' } as const
  const ofApp = { per: 'app', limit: { count: 5 }, window: 'day' } as const
  const warning = { path: 'budgets', message: expect.stringMatching(/limit no sender/) }
  expect(everyWarning(restricted)).toEqual([warning])
  expect(everyWarning({ budgets: [ofApp] })).toEqual([warning])
  expect(everyWarning({ budgets: [ofApp, ofSender] })).toEqual([])
  expect(everyWarning({ allowSenders: [one] })).toEqual([])
  expect(everyWarning({})).not.toContainEqual(warning)
})

test.each([
  [{ validUntil: 999 }, 'validUntil', /is over: the policy passes nothing/],
  [{ validFrom: 2_000, validUntil: 1_500 }, 'validFrom', /is after validUntil: .* passes nothing/],
  [{ validFrom: 2_000 }, 'validFrom', /has not come yet/],
  [{ chains: [11, 12] }, 'chains', /\(11, 12\): the policy passes nothing/],
  [{ chains: [10, 11] }, 'chains', /not served here \(11\)\.$/],
  [{ allowSenders: [one], denySenders: [one] }, 'allowSenders', /all .* passes nothing/],
  [{ allowSenders: [one, other], denySenders: [other.toLowerCase()] }, 'allowSenders', /1 of 2/],
  [{ deploymentOnly: true, factories: [] }, 'factories', /passes nothing/],
  [{ maxFeePerGas: '0' }, 'maxFeePerGas', /passes nothing/],
  [{ budgets: [{ per: 'sender', limit: { count: 0 } }] }, 'budgets.0.limit', /is 0/],
  [{ budgets: [{ per: 'app', limit: { usd: '1' } }] }, 'budgets.0.limit', /needs a price/],
  [{ calls: { allow: [{ target: one }, { target: 'any' }] } }, 'calls.allow.1', /mean nothing/],
  [
    { calls: { allow: [{ target: one }], allowDelegateCalls: true } },
    'calls.allowDelegateCalls',
    /not checked/,
  ],
  [
    { calls: { allow: [never, { target: one }] } },
    'calls.allow.0.where.1',
    /met by no value: this call is never paid for/,
  ],
  [{ calls: { allow: [never] } }, 'calls.allow.0.where.1', /no value: the policy passes nothing/],
  [{ webhookMode: 'always' }, 'webhookMode', /without one is refused/],
  [{}, '', /restrict nothing/],
] satisfies [TermsInput, string, RegExp][])('%j', (terms, path, message) => {
  expect(warnings(terms)).toEqual([{ path, message: expect.stringMatching(message) }])
})

test('terms that can pass and restrict something cause no warning', () => {
  for (const terms of [
    restricted,
    { chains: [10], validFrom: 1_000, validUntil: 1_000 },
    { allowSenders: [one], denySenders: [other] },
    { deploymentOnly: true, factories: [one] },
    { calls: { allow: [{ target: 'any', maxValue: '0' }] } },
    { budgets: [{ per: 'app', limit: { count: 1 }, window: 'day' }] },
  ] satisfies TermsInput[])
    expect(warnings(terms)).toEqual([])
  expect(warnings({ chains: [11] }, { served: undefined })).toEqual([])
})

test('a policy that takes everything leaves nothing to those behind it', () => {
  const all = { name: 'all', terms: termsSchema.parse({}) }
  const some = { name: 'some', terms: termsSchema.parse(restricted) }
  expect(warnings(restricted, { before: [some, all] })).toEqual([
    { path: '', message: expect.stringMatching(/never reached: the earlier policy all /) },
  ])
  expect(warnings(restricted, { before: [some], after: [all] })).toEqual([])
  expect(warnings({}, { after: [some] }).map(({ message }) => message)).toEqual([
    expect.stringMatching(/restrict nothing/),
    expect.stringMatching(/later policies are never reached \(some\)/),
  ])
})
