import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { adminTypes } from '../../../scripts/adminTypes.js'
import { routes } from './routeTable.js'

const file = new URL('../contracts/adminRoutes.generated.ts', import.meta.url)

test('the types of the client are those of the routes', () => {
  const types = adminTypes(routes)
  if (process.env.PURSER_WRITE_SCHEMA !== undefined) writeFileSync(file, types)
  expect(readFileSync(file, 'utf8'), 'npm run generate:admin').toBe(types)
})
