import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Hex } from 'viem'

const require = createRequire(import.meta.url)

/** Creation code of the artifact at `path` of an installed package, as hardhat or foundry write it. */
export function artifactCode(path: string): Hex {
  const { bytecode } = require(path) as { bytecode: Hex | { object: Hex } }
  return typeof bytecode === 'string' ? bytecode : bytecode.object
}

/** Creation code that @rhinestone/modulekit has as a constant of a Solidity file. */
export function modulekitCode(file: string, constant: string): Hex {
  const folder = '@rhinestone/modulekit/src/deployment/precompiles'
  const source = readFileSync(require.resolve(`${folder}/${file}.sol`), 'utf8')
  const found = new RegExp(`constant ${constant} =\\s*hex"([0-9a-f]+)"`).exec(source)
  if (found === null) throw new Error(`${file}.sol has no ${constant}.`)
  return `0x${found[1]}`
}
