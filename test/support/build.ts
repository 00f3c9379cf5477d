import { execFileSync } from 'node:child_process'

/** Tests that run the command line run what is in `src` now, not an earlier build. */
export default (): void => {
  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, args, { stdio: 'inherit' })
  run(
    'node_modules/typescript/bin/tsc',
    '-b',
    'tsconfig.build.json',
    'tsconfig.admin.json',
    'tsconfig.prool.json',
  )
  run('scripts/build-assets.mjs')
}
