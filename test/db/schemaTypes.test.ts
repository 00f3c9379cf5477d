import { readFileSync, writeFileSync } from 'node:fs'
import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { schemaTypes } from '../../scripts/schemaTypes.js'
import { useDatabase } from '../support/database/database.js'

const database = useDatabase()
const file = new URL('../../src/db/schema.generated.ts', import.meta.url)

test('the types of rows are those of the schema', async () => {
  const types = await schemaTypes(database().database as unknown as Kysely<never>)
  if (process.env.PURSER_WRITE_SCHEMA !== undefined) writeFileSync(file, types)
  expect(readFileSync(file, 'utf8'), 'npm run generate:schema').toBe(types)
})
