import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

// What of the build is not TypeScript: the steps of the schema, the chains, and the console, each file of which is
// compressed here so that the service has nothing to compress.
for (const name of ['db/migrations', 'config/chains']) {
  const copy = fileURLToPath(new URL(`../dist/${name}`, import.meta.url))
  rmSync(copy, { recursive: true, force: true })
  cpSync(fileURLToPath(new URL(`../src/${name}`, import.meta.url)), copy, { recursive: true })
}
const root = fileURLToPath(new URL('../console/', import.meta.url))
const folder = fileURLToPath(new URL('../dist/console/', import.meta.url))
await build({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'warn' })
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!['.js', '.css', '.svg', '.md'].includes(extname(name))) continue
  const path = join(folder, name)
  const bytes = readFileSync(path)
  writeFileSync(`${path}.br`, brotliCompressSync(bytes))
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
}
