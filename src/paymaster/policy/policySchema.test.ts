import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { termsSchema } from './policySchema.js'

const address = `0x${'Ab'.repeat(20)}`

test('no terms restrict nothing', () => {
  expect(termsSchema.parse({})).toEqual({
    chains: undefined,
    validFrom: undefined,
    validUntil: undefined,
    allowSenders: undefined,
    denySenders: [],
    deploymentOnly: false,
    factories: undefined,
    maxFeePerGas: undefined,
    calls: undefined,
    budgets: [],
    webhookMode: 'request',
  })
})

test('budgets are read exactly, in wei, millionths of a USD, or operations', () => {
  const { budgets } = termsSchema.parse({
    budgets: [
      { per: 'operation', limit: { usd: '0.000001' } },
      { per: 'sender', limit: { wei: '10000000000000000001' }, window: 'day' },
      { per: 'app', limit: { count: 5 } },
      { per: 'app', limit: { usd: '12.5' }, window: { rollingSeconds: 3_600 } },
    ],
  })
  expect(budgets).toEqual([
    { per: 'operation', unit: 'usd', limit: 1n },
    { per: 'sender', unit: 'wei', limit: 10_000_000_000_000_000_001n, window: 'day' },
    { per: 'app', unit: 'count', limit: 5n, window: 'never' },
    { per: 'app', unit: 'usd', limit: 12_500_000n, window: { rollingSeconds: 3_600 } },
  ])
})

test('a function is a selector or a signature, with or without names', () => {
  const functions = [
    '0xA9059CBB',
    'transfer(address,uint256)',
    'transfer(address to, uint256 value)',
  ]
  const { calls } = termsSchema.parse({
    calls: { allow: functions.map((each) => ({ target: address, function: each })) },
  })
  for (const allowed of calls?.allow ?? []) {
    expect(allowed.target).toBe(address.toLowerCase())
    expect(allowed.function?.selector).toBe('0xa9059cbb')
  }
})

/** Names that every object has, and what has to do with its prototype. */
const inherited = [
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
  'valueOf.0',
  '0.__proto__',
  '__proto__.0',
]

test('a name is applied or refused: none is left out in silence', () => {
  const comparison = '{"$lte":"1"}'
  const isPath = /^\d{1,3}(\.\d{1,3})*$/
  let taken = 0
  const names = fc.oneof(
    fc.constantFrom(...inherited),
    fc.string({ maxLength: 8 }),
    fc.nat(200).map((place) => `0.${place}`),
    fc.constantFrom('0.0', '0.1.2', '00', ' 0', '0.', '-1', '1e1'),
  )
  fc.assert(
    fc.property(fc.uniqueArray(names, { minLength: 1, maxLength: 4 }), (written) => {
      const where = written.map((name) => `${JSON.stringify(name)}:${comparison}`).join(',')
      const text = `{"calls":{"allow":[{"target":"any","function":"f(uint256[])","where":{${where}}}]}}`
      const { success, data } = termsSchema.safeParse(JSON.parse(text))
      const applied = data?.calls?.allow[0]?.where ?? []
      expect(applied).toHaveLength(success ? written.length : 0)
      if (success) taken += 1
      if (!written.every((name) => isPath.test(name))) expect(success).toBe(false)
    }),
  )
  expect(taken).toBeGreaterThan(0)
  for (const name of inherited) {
    const bare = `{"calls":{"allow":[{"target":"any","function":"f(uint256)","where":{"0":${comparison},"${name}":${comparison}}}]}}`
    expect(termsSchema.safeParse(JSON.parse(bare)).success, name).toBe(false)
    for (const at of [`{"${name}":1}`, `{"calls":{"allow":[{"target":"any"}],"${name}":1}}`])
      expect(termsSchema.safeParse(JSON.parse(at)).success, at).toBe(false)
  }
})

describe('is refused:', () => {
  const call = (given: object) => ({ calls: { allow: [{ target: 'any', ...given }] } })
  test.each<[name: string, terms: object, message: RegExp]>([
    ['an unknown member', { budget: [] }, /budget/],
    ['wei as a number', { budgets: [{ per: 'app', limit: { wei: 1 } }] }, /./],
    ['two units', { budgets: [{ per: 'app', limit: { wei: '1', count: 1 } }] }, /./],
    [
      'a window of one operation',
      { budgets: [{ per: 'operation', limit: { wei: '1' }, window: 'day' }] },
      /window/,
    ],
    ['a count of one operation', { budgets: [{ per: 'operation', limit: { count: 1 } }] }, /count/],
    ['seven decimals', { budgets: [{ per: 'app', limit: { usd: '1.0000001' } }] }, /./],
    [
      'the same budget twice',
      {
        budgets: [
          { per: 'app', limit: { count: 1 } },
          { per: 'app', limit: { count: 2 } },
        ],
      },
      /twice/,
    ],
    ['an empty allow list', { allowSenders: [] }, /./],
    ['no address', { denySenders: ['0x12'] }, /address/],
    ['a signature that is none', call({ function: 'transfer(address' }), /signature/],
    [
      'a constraint without a signature',
      call({ function: '0xa9059cbb', where: { 0: { $eq: '1' } } }),
      /parameter/,
    ],
    [
      'a parameter that is not there',
      call({ function: 'f(uint256)', where: { 1: { $eq: '1' } } }),
      /parameter/,
    ],
    [
      'a comparison of addresses',
      call({ function: 'f(address)', where: { 0: { $lt: address } } }),
      /numbers/,
    ],
    [
      'a value of another type',
      call({ function: 'f(uint256)', where: { 0: { $eq: 'abc' } } }),
      /abc/,
    ],
    ['no operator', call({ function: 'f(uint256)', where: { 0: {} } }), /operator/],
  ])('%s', (_, terms, message) => {
    const { error } = termsSchema.safeParse(terms)
    expect(error?.message).toMatch(message)
  })
})
