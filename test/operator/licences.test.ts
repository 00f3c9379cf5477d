import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { devContracts, devVersions } from '../../src/cli/devnet/devContracts.js'

type Locked = {
  readonly license?: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}
const root = lock.packages['']

/** Every term of these lets us and everyone who runs Purser pass the code on without further duties than naming it. */
const permissive = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD']

/** The place of package `name` in the lock, as Node finds it from `from`. */
function placeOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (lock.packages[place] !== undefined) return place
    if (!folder.includes('/node_modules/')) break
  }
  return lock.packages[`node_modules/${name}`] && `node_modules/${name}`
}

/** All that npm installs for these packages, by its place in the lock. */
function closure(names: readonly string[]): ReadonlySet<string> {
  const places = new Set<string>()
  const visit = (name: string, from: string): void => {
    const place = placeOf(name, from)
    if (place === undefined || places.has(place)) return
    places.add(place)
    const { dependencies, optionalDependencies } = lock.packages[place] ?? {}
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(next, place)
  }
  for (const name of names) visit(name, '')
  return places
}

const isPermissive = (place: string): boolean =>
  (lock.packages[place]?.license ?? 'none')
    .replaceAll(/[()]/g, '')
    .split(/ OR /)
    .some((licence) => permissive.includes(licence))

test('all that a server installs is under permissive licences', () => {
  const places = [...closure(Object.keys(root?.dependencies ?? {}))]
  expect(places.length).toBeGreaterThan(40)
  expect(places.filter((place) => !isPermissive(place))).toEqual([])
})

test('nor does what a clone installs for the development chain bring others', () => {
  const optional = Object.keys(root?.optionalDependencies ?? {})
  expect(optional.length).toBeGreaterThan(3)
  expect([...closure(optional)].filter((place) => !isPermissive(place))).toEqual([])
})

/** Builds of anvil for other systems, which the registry that the lock was made with does not have. */
const withoutIntegrity = [
  'node_modules/@foundry-rs/anvil-darwin-amd64',
  'node_modules/@foundry-rs/anvil-darwin-arm64',
  'node_modules/@foundry-rs/anvil-linux-arm64',
  'node_modules/@foundry-rs/anvil-win32-amd64',
]

test('the lock knows the content of every package, but of four optional ones for other systems', () => {
  const places = Object.entries(lock.packages).filter(([place]) => place !== '')
  const unknown = places.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))
  expect(unknown.map(([place]) => place)).toEqual(withoutIntegrity)
  expect(unknown.every(([, { optional }]) => optional)).toBe(true)
})

test('nothing that we pack holds the code of an EntryPoint, which is GPL, and all our contracts are MIT', () => {
  const codes = devVersions.map((version) => {
    const { deployments, placements } = devContracts(version)
    const code = placements[0]?.code(1) ?? deployments[0]?.deployData ?? ''
    return code.slice(code.length / 2, code.length / 2 + 400)
  })
  expect(codes.every((code) => /^[0-9a-f]{400}$/.test(code))).toBe(true)
  const files = ['dist', 'docs'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith('dist/bench'))
      .map(({ parentPath, name }) => join(parentPath, name)),
  )
  const holding = files.filter((file) => {
    const text = readFileSync(file, 'utf8').toLowerCase()
    return codes.some((code) => text.includes(code))
  })
  expect(holding).toEqual([])
  for (const name of readdirSync('contracts'))
    expect(readFileSync(join('contracts', name), 'utf8'), name).toContain(
      'SPDX-License-Identifier: MIT',
    )
})
