import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * The build of this checkout with a further step of the schema, as a later version has it.
 * @param folder where it is written; the caller removes it
 * @returns its command line program
 */
export function laterBuild(folder: string, name: string, statements: string): string {
  cpSync('dist', join(folder, 'dist'), { recursive: true })
  cpSync('package.json', join(folder, 'package.json'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, `dist/db/migrations/${name}.sql`), statements)
  return join(folder, 'dist/cli.js')
}
