import { expect, test } from 'vitest'
import { createStatementNames } from './statementNames.js'

test('a statement keeps its name, others get others', () => {
  const nameOf = createStatementNames()
  const first = nameOf('select 1')
  expect(first).toMatch(/^[0-9a-f]{32}$/)
  expect(nameOf('select 2')).not.toBe(first)
  expect(nameOf('select 1')).toBe(first)
})

test('the first 400 get names, however many come; what is very long gets none', () => {
  const nameOf = createStatementNames()
  expect(nameOf(`select ${'1,'.repeat(3_000)}1`)).toBeUndefined()
  const names = Array.from({ length: 450 }, (_, i) => nameOf(`select ${i}`))
  expect(new Set(names.slice(0, 400)).size).toBe(400)
  expect(names.slice(0, 400)).not.toContain(undefined)
  expect(names.slice(400).every((name) => name === undefined)).toBe(true)
  expect(nameOf('select 7')).toBe(names[7])
})

test('one database does not use up the names of another', () => {
  const [busy, other] = [createStatementNames(), createStatementNames()]
  for (let i = 0; i < 500; i++) busy(`select ${i}`)
  expect(other('select 1000')).toBeDefined()
})
