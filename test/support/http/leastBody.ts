import { z } from 'zod'
import type { Route } from '../../../src/tenants/route.js'
import { entryPointNamed } from './apiFixtures.js'
import type { Json } from './jsonRpc.js'

/** Members that a schema does not say enough about. */
const given: Json = {
  abi: '',
  name: 'new',
  reference: 'x',
  email: 'new@example.com',
  appId: null,
  quotas: null,
  wei: '5',
  chainId: 31_337,
  entryPoint: entryPointNamed('0.8').address,
  owner: `0x${'0a'.repeat(20)}`,
  url: 'http://127.0.0.1/',
  webhookUrl: 'http://127.0.0.1/',
  from: '2026-01-01T00:00:00.000Z',
  until: '2026-02-01T00:00:00.000Z',
  eventTypes: ['tank.low'],
}

/** A body of the members that a route requires; undefined = it takes none. */
export function leastBody({ body }: Route): Json | undefined {
  if (body === undefined) return undefined
  const { properties = {}, required = [] }: Json = z.toJSONSchema(body, { io: 'input' })
  const values = required.map((name: string) => [
    name,
    given[name] ?? properties[name].enum?.[0] ?? null,
  ])
  return Object.fromEntries(values)
}
