import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = 'console/src'

/** The opening tags of fields, up to the end of their attributes. */
const FIELDS = /<(?:input|select|textarea)\b(?:[^>]|=>)*?>/g

test('no field is given a value that it does not hear about: what is drawn anew would take typed text away', () => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const fields = names
    .filter((name) => name.endsWith('.tsx'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').match(FIELDS) ?? [])
  expect(fields.length).toBeGreaterThan(30)
  const deaf = fields.filter((field) => /\svalue=\{/.test(field) && !/\son[A-Z]/.test(field))
  expect(deaf.filter((field) => !/type="(?:checkbox|radio)"/.test(field))).toEqual([])
  const ticked = fields.filter((field) => /\schecked=\{/.test(field))
  expect(ticked.length).toBeGreaterThan(3)
  expect(ticked.filter((field) => !/\son[A-Z]/.test(field))).toEqual([])
})
