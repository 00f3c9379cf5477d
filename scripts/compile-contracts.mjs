// Compiles contracts/*.sol with solc from npm and writes one TypeScript module per contract that
// we ship: its ABI, creation code and runtime code. Runs before tsc, so a clone needs no toolchain.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

const root = fileURLToPath(new URL('..', import.meta.url))
const sourceFolder = join(root, 'contracts')
const targetFolder = join(root, 'src/chain/contracts/generated')

const files = readdirSync(sourceFolder).filter((name) => name.endsWith('.sol'))
const sources = Object.fromEntries(
  files.map((name) => [name, { content: readFileSync(join(sourceFolder, name), 'utf8') }]),
)
// The compiler takes a minute where the machine is busy, and contracts hardly change.
const stampFile = join(targetFolder, '.stamp')
const stamp = createHash('sha256')
  .update(
    JSON.stringify([solc.version(), sources, readFileSync(fileURLToPath(import.meta.url), 'utf8')]),
  )
  .digest('hex')
if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) process.exit(0)

const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: 'Solidity',
      sources,
      settings: {
        evmVersion: 'shanghai',
        viaIR: true,
        optimizer: { enabled: true, runs: 1_000_000 },
        metadata: { bytecodeHash: 'none' },
        outputSelection: {
          '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
        },
      },
    }),
  ),
)

const problems = output.errors ?? []
for (const problem of problems) console.error(problem.formattedMessage)
if (problems.length > 0) process.exit(1)

rmSync(targetFolder, { recursive: true, force: true })
mkdirSync(targetFolder, { recursive: true })
for (const contracts of Object.values(output.contracts ?? {})) {
  for (const [name, { abi, evm }] of Object.entries(contracts)) {
    const isInterfaceOrAbstract = evm.bytecode.object === ''
    if (isInterfaceOrAbstract) continue
    const module = [
      `export const abi = ${JSON.stringify(abi)} as const`,
      `export const bytecode = '0x${evm.bytecode.object}' as const`,
      `export const runtime = '0x${evm.deployedBytecode.object}' as const`,
    ]
    writeFileSync(join(targetFolder, `${name}.ts`), `${module.join('\n')}\n`)
  }
}
// Last: a compilation that was interrupted is done again.
writeFileSync(stampFile, stamp)
