import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = 'console/src'
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.css'),
)

/** The classes that a file styles wherever they stand. */
function classesOf(file: string): readonly string[] {
  const rules = readFileSync(join(root, file), 'utf8').matchAll(/^ {2}\.([\w-]+) \{$/gm)
  return [...rules].flatMap(([, name]) => name ?? [])
}

test('the styles of a screen, which stay after a visit, change no class of another file', () => {
  const ofScreens = files.filter((file) => file.startsWith('screens'))
  expect(ofScreens.length).toBeGreaterThan(5)
  const changed = ofScreens.flatMap((screen) => {
    const others = new Set(files.filter((file) => file !== screen).flatMap(classesOf))
    return classesOf(screen).filter((name) => others.has(name))
  })
  expect(changed).toEqual([])
})
