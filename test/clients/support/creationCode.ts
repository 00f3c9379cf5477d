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

/** Creation codes that a recorded run of a foundry script sent, in their order. */
export function broadcastCode(path: string): readonly Hex[] {
  const run = require(path) as { transactions: { transaction: { data: Hex } }[] }
  return run.transactions.map(({ transaction }) => transaction.data)
}

/** Creation code that a typechain factory of an installed package has as a constant. */
export function typechainCode(path: string): Hex {
  const source = readFileSync(require.resolve(path), 'utf8')
  const found = /^const _bytecode = "(0x[0-9a-f]+)"/m.exec(source)
  if (found === null) throw new Error(`${path} has no creation code.`)
  return found[1] as Hex
}
