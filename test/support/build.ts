import { execFileSync } from 'node:child_process'

/** Tests that run the command line run what is in `src` now, not an earlier build. */
export default (): void => {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json'], {
    stdio: 'inherit',
  })
}
