import { expect, test } from 'vitest'
import { z } from 'zod'
import { issueOf } from './explainIssue.js'
import { explainJson } from './explainJson.js'

const chain = z.strictObject({
  chainId: z.int().positive(),
  rpcUrls: z.array(z.url()).min(1),
  name: z.string().max(5).optional(),
  entryPoints: z.array(z.strictObject({ version: z.enum(['0.6', '0.7']) })).optional(),
  rules: z.union([z.literal('full'), z.int()], 'must be full or a number').optional(),
})
const schema = z.array(z.preprocess((value) => value, chain))

const given = { chainId: 1, rpcUrls: ['http://a'] }

test.each([
  [{ chainId: 1, rpcUrl: 'http://a' }, '0.rpcUrl is unknown: did you mean "rpcUrls"?'],
  [{ ...given, nme: 'a' }, '0.nme is unknown: did you mean "name"?'],
  [{ ...given, colour: 'a' }, '0.colour is unknown'],
  [{ chainId: 1 }, '0.rpcUrls is missing'],
  [{ ...given, chainId: '1' }, '0.chainId must be a number'],
  [{ ...given, chainId: 0 }, '0.chainId must be more than 0'],
  [{ ...given, rpcUrls: [] }, '0.rpcUrls must have at least 1 entry'],
  [{ ...given, rpcUrls: ['x'] }, '0.rpcUrls.0 must be a URL'],
  [{ ...given, name: 'too long' }, '0.name must have at most 5 characters'],
  [{ ...given, entryPoints: 'all' }, '0.entryPoints must be a list'],
  [
    { ...given, entryPoints: [{ version: '1' }] },
    '0.entryPoints.0.version must be one of 0.6, 0.7',
  ],
  [{ ...given, rules: 'x' }, '0.rules must be full or a number'],
])('%j', (value, message) => {
  const { error } = schema.safeParse([value])
  expect(error && Object.values(issueOf(error, [value], schema)).join(' ')).toBe(message)
})

test.each([
  [
    '{"a": 1,\n "b": 2,}',
    'unexpected "}" in line 2, column 9: the comma before it is one too many',
  ],
  ['{"a": 1', 'it ends too early, in line 1'],
  ['not json', 'unexpected "o" in line 1, column 2'],
  ['', 'it is empty'],
  ['{\n  "a": 1\n  "b": 2\n}', 'unexpected "\\"" in line 3, column 3'],
])('%j', (text, message) => {
  try {
    JSON.parse(text)
    expect.unreachable()
  } catch (error) {
    expect(explainJson(text, error as Error)).toBe(message)
  }
})
