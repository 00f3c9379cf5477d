import { expect, test } from 'vitest'
import { buildVersion, version } from '../base/version.js'
import { migrations } from './migrate.js'

test('a build names the schema that it needs, so that two builds on different schemas differ', () => {
  const newest = Object.keys(migrations).sort().at(-1) ?? ''
  expect(buildVersion).toBe(`${version}+schema.${newest.slice(0, 4)}`)
})
