// Before packing: takes out of dist what no source makes any more. The rest stays, so that a clone that was built packs
// within seconds, and a service that runs from dist goes on.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
/** Folders whose content other steps of the build replace as a whole. */
const others = /^(console|bench|db\/migrations)(\/|$)/

if (existsSync(dist))
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const [, stem] = /^(.*?)\.(?:d\.ts|js)(?:\.map)?$/.exec(name) ?? []
    if (stem === undefined || others.test(name)) continue
    if (!existsSync(join(root, 'src', `${stem}.ts`))) rmSync(join(dist, name))
  }
