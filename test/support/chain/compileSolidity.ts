import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'

export type Compiled = { readonly abi: Abi; readonly bytecode: Hex; readonly runtime: Hex }

type Compiler = { compile(input: string): string }

const load = createRequire(import.meta.url)

/** What the compiler made of each input that some run of the tests has had. */
const memory = join(process.cwd(), 'node_modules/.cache/purser-solc')

/** Compiles contracts that only a test needs, by name. The same source is compiled once on a machine. */
export function compileSolidity(
  source: string,
  evmVersion: 'shanghai' | 'cancun' = 'shanghai',
): Record<string, Compiled> {
  const sources = { 'test.sol': { content: `pragma solidity ^0.8.30;\n${source}` } }
  return compileSources(sources, { evmVersion, optimizer: { enabled: true } })
}

/** Contracts of all of `sources`, by name, compiled with `settings` of the compiler's standard input. */
export function compileSources(
  sources: Readonly<Record<string, { readonly content: string }>>,
  settings: object,
): Record<string, Compiled> {
  const outputSelection = {
    '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
  }
  const language = 'Solidity'
  const input = JSON.stringify({ language, sources, settings: { ...settings, outputSelection } })
  const output = JSON.parse(compile(input))
  const errors = (output.errors ?? []).filter((e: { severity: string }) => e.severity === 'error')
  if (errors.length > 0) throw new Error(errors[0].formattedMessage)
  type Output = { abi: Abi; evm: Record<'bytecode' | 'deployedBytecode', { object: string }> }
  type File = Record<string, Output>
  const files = Object.values(output.contracts as Record<string, File>)
  const contracts = files.flatMap((file) => Object.entries(file))
  return Object.fromEntries(
    contracts.map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}`, runtime: `0x${evm.deployedBytecode.object}` },
    ]),
  )
}

/** The compiler's output; loading the compiler takes a second, so only what is new needs it. */
function compile(input: string): string {
  const { version } = load('solc/package.json') as { version: string }
  const name = createHash('sha256').update(`${version} ${input}`).digest('hex')
  const file = join(memory, `${name}.json`)
  try {
    return readFileSync(file, 'utf8')
  } catch {
    const output = (load('solc') as Compiler).compile(input)
    mkdirSync(memory, { recursive: true })
    // Replaced whole: another worker may be reading it.
    const draft = join(memory, `${name}.${randomUUID()}`)
    writeFileSync(draft, output)
    renameSync(draft, file)
    return output
  }
}
