import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** A step of the schema that a build of this checkout does not have. */
export type LaterStep = {
  readonly name: string
  readonly kind: 'migration' | 'stoppedMigration'
  readonly statement: string
}

const ROWS = 'export const migrations = {'

/**
 * The build of this checkout with further steps of the schema, as a later version has them.
 * @param folder where it is written; the caller removes it
 * @returns its command line program
 */
export function laterBuild(folder: string, steps: readonly LaterStep[]): string {
  cpSync('dist', join(folder, 'dist'), { recursive: true })
  cpSync('package.json', join(folder, 'package.json'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const store = join(folder, 'dist/store')
  mkdirSync(join(store, 'migrations/later'))
  const file = join(store, 'migrate.js')
  let text = readFileSync(file, 'utf8')
  if (!text.includes(ROWS)) throw new Error(`${file} has no ${ROWS}`)
  for (const { name, kind, statement } of steps) {
    writeFileSync(
      join(store, `migrations/later/${name}.js`),
      `import { ${kind} } from '../../migration.js'\nexport const step = ${kind}([${JSON.stringify(statement)}])\n`,
    )
    const variable = `step${name.slice(0, 4)}`
    text = `import { step as ${variable} } from './migrations/later/${name}.js'\n${text.replace(ROWS, `${ROWS}\n    '${name}': ${variable},`)}`
  }
  writeFileSync(file, text)
  return join(folder, 'dist/cli.js')
}
