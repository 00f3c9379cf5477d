import { readFileSync } from 'node:fs'

type Specs = Readonly<Record<string, string>>
const manifest = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly optionalDependencies: Specs; readonly devDependencies: Specs }

/** The package `name` in the version that we test with, as `npm install` takes it. */
export function packageSpec(name: string): string {
  const specs = { ...manifest.optionalDependencies, ...manifest.devDependencies }
  const spec = specs[name]
  if (spec === undefined) throw new RangeError(`${name} is none of our packages.`)
  return `${name}@${spec}`
}
