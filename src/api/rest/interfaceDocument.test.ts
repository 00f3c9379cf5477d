import { readFileSync, writeFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { document, isTaken } from '../../../test/support/http/documentedInterface.js'
import { InvalidFieldError } from '../../errors/restErrors.js'
import type { Members } from '../dialects/decode/members.js'
import { ruleOperations } from './dashboardOperations.js'
import { type InterfaceRoute, interfaceRoutes } from './interfaceRoutes.js'
import { webhookOperations } from './webhookOperations.js'

const PAGE = 'docs/api.md'
const REMEDY = 'PURSER_WRITE_DOCS=1 npx vitest run src/api/rest'

test('the document is OpenAPI 3.1 by the official schema', async () => {
  expect(await new Validator().validate(document)).toMatchObject({ valid: true })
  expect(Object.keys(document.webhooks)).toHaveLength(9)
})

test('the document has every operation that is served, with its role', () => {
  const described = interfaceRoutes.map(({ method, path, role }) => `${method} ${path} ${role}`)
  const webhooks = [...webhookOperations].map(([method, { role }]) => `${method} webhook ${role}`)
  const rules = Object.entries(ruleOperations).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => {
      const role = method === 'GET' ? 'viewer' : 'admin'
      return `${method} ${path.replace(':policyId', '{policyId}')} ${role}`
    }),
  )
  const own = ['POST paymaster admin', 'GET paymaster viewer']
  expect(described.sort()).toEqual([...webhooks, ...rules, ...own].sort())
})

/** What the handler of a body's route says to it, as far as that is about the body. */
async function isDecoded(method: string, path: string, body: Members): Promise<boolean> {
  const accept = async () => undefined
  try {
    if (path === 'webhook') {
      const services = { create: async (_: string, made: object) => made, update: async () => true }
      await webhookOperations
        .get(method)
        ?.run({ ...services, delete: async () => true } as never, { appId: '', body, query: {} })
      return true
    }
    const stored = { id: 'x', kind: 'limit', name: 'x', active: true, data: limit }
    const known = { id: 'y', kind: 'contract', name: 'y', active: true, data: contract }
    const rules = {
      list: async () => [stored, known],
      add: async () => stored,
      change: async () => known,
      remove: accept,
    }
    const webhooks = { create: async () => 'id', update: accept }
    const request = { accountId: '', appId: '', rules, webhooks, body, policyId: 'x' }
    const template = path.replace('{policyId}', ':policyId')
    await ruleOperations[template]?.[method]?.(request as never)
    return true
  } catch (error) {
    if (error instanceof InvalidFieldError) return false
    // Not there, or there already: the body itself was understood.
    return true
  }
}

const limit = {
  type: 'PAYMASTER',
  thresholdType: 'NATIVE_ASSET',
  threshold: 1.5,
  cycleDuration: { value: 2, unit: 'day' },
}
const contract = {
  address: `0x${'1'.repeat(40)}`,
  abi: '[]',
  whitelistedMethods: [],
  functions: [],
}
const url = 'https://dapp.example/hook?x=1'

/** A good body of each operation that takes one; that of `paymaster` needs a database. */
const good: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ['POST', 'webhook', { webhookUrl: url, requestType: 'POST' }],
  ['PATCH', 'webhook', { webhookId: 'x', active: true }],
  ['DELETE', 'webhook', { webhookId: 'x' }],
  ['POST', 'smart-contract', { name: 'n', address: contract.address, abi: '[]' }],
  ['PATCH', 'smart-contract', { address: contract.address, whitelistedMethods: [] }],
  ['DELETE', 'smart-contract', { address: contract.address }],
  ['POST', 'paymaster-policy', { name: 'n', policyType: 'PAYMASTER_SA_LIMIT', policyData: limit }],
  ['POST', 'paymaster-policy', { name: 'n', policyType: 'WEBHOOK', policyData: { url } }],
  ['POST', 'paymaster-policy', { name: 'n', policyType: 'WALLET_DEPLOYMENT', policyData: {} }],
  ['PATCH', 'paymaster-policy/limit/{policyId}', { name: 'n', ...limit }],
]

/** Values that stand where others are wanted. */
const strange: readonly unknown[] = [
  undefined,
  true,
  0,
  -1,
  1.5,
  1e10,
  '',
  'x',
  'ftp://x',
  'http://',
  'a b',
  `0x${'2'.repeat(40)}`,
  'n'.repeat(101),
  [],
  {},
  { value: 0, unit: 'day' },
  { value: 1, unit: 'week' },
]

/** The body with one member, at any depth, replaced. */
function changed(
  body: Record<string, unknown>,
  at: number,
  value: unknown,
): Record<string, unknown> {
  const names = Object.keys(body)
  const name = names[at % names.length] ?? ''
  const inner = body[name]
  const isDeep = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
  if (isDeep && Object.keys(inner).length > 0 && at % 2 === 1)
    return { ...body, [name]: changed(inner as Record<string, unknown>, at >> 1, value) }
  return { ...body, [name]: value }
}

describe('what the document says of bodies is what the decoders do', () => {
  test.each(good)('%s %s', async (method, path, body) => {
    expect(isTaken(method, `/${path}`, body)).toBe(true)
    expect(await isDecoded(method, path, body)).toBe(true)
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.constantFrom(...strange), async (at, value) => {
        const other = changed(body, at, value)
        // As it travels: a member that is undefined is not there.
        const sent = JSON.parse(JSON.stringify(other)) as Record<string, unknown>
        const taken = isTaken(method, `/${path}`, sent)
        if (!taken) refused++
        expect({ sent, taken }).toEqual({ sent, taken: await isDecoded(method, path, sent) })
      }),
      { numRuns: 200 },
    )
    expect(refused).toBeGreaterThan(0)
  })
})

/** The rows of the page for the routes below these paths. */
function tableOf(isShown: (route: InterfaceRoute) => boolean): string {
  const rows = interfaceRoutes.filter(isShown).map((route) => {
    const { method, path, role, body, query, data, summary } = route
    const members =
      body === undefined ? '–' : membersOf(document.paths[`/${path}`][method.toLowerCase()])
    const asked = query === undefined ? '' : `?${Object.keys(query.shape).join('=&')}=`
    return `| \`${method} ${path}${asked}\` | ${members} | ${summary} | ${data === undefined ? '–' : '`data`'} | ${role} |`
  })
  return ['| route | body | what | answer | role |', '|---|---|---|---|---|', ...rows].join('\n')
}

type Described = { requestBody: { content: Record<string, { schema: Schema }> } }
type Schema = { properties?: Record<string, unknown>; required?: string[]; oneOf?: Schema[] }

/** The members that a body has, those that may be missing with a question mark. */
function membersOf({ requestBody }: Described): string {
  const schema = requestBody.content['application/json']?.schema
  const { properties = {}, required = [] } = schema?.oneOf?.[0] ?? schema ?? {}
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`))
  return `\`{${names.join(', ')}}\``
}

test.each([
  ['webhook routes', ({ path }: InterfaceRoute) => path === 'webhook'],
  ['dashboard routes', ({ path }: InterfaceRoute) => path !== 'webhook'],
])('docs/api.md shows the %s as the document has them', (mark, isShown) => {
  const [begin, end] = [`<!-- ${mark}: generated by src/api/rest -->`, `<!-- /${mark} -->`]
  const page = readFileSync(PAGE, 'utf8')
  const from = page.indexOf(begin) + begin.length
  const table = tableOf(isShown)
  if (process.env.PURSER_WRITE_DOCS !== undefined)
    writeFileSync(PAGE, `${page.slice(0, from)}\n\n${table}\n\n${page.slice(page.indexOf(end))}`)
  const written = readFileSync(PAGE, 'utf8')
  expect(written).toContain(begin)
  expect(written.slice(from, written.indexOf(end)).trim(), REMEDY).toBe(table)
})
