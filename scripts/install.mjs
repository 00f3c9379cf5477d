// Installs the packages of a folder that has a lock of its own, unless they are what the lock says: clients and accounts of
// others (test/clients) and the linter (scripts/lint), which most work in a clone does without. Its peers are the clone's:
// where a client would bring a copy of one, that copy is removed, for two of them have types that do not fit.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

for (const folder of process.argv.slice(2)) {
  const lock = join(folder, 'package-lock.json')
  const installed = join(folder, 'node_modules/.installed-lock.json')
  if (existsSync(installed) && readFileSync(installed).equals(readFileSync(lock))) continue
  console.log(`${folder}: npm ci`)
  const options = { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }
  execFileSync('npm', ['ci', '--loglevel=error'], options)
  const { peerDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  for (const peer of Object.keys(peerDependencies))
    rmSync(join(folder, 'node_modules', peer), { recursive: true, force: true })
  copyFileSync(lock, installed)
}
