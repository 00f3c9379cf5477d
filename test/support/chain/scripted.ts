import { readFileSync } from 'node:fs'
import solc from 'solc'
import type { Hex } from 'viem'

const source = readFileSync(new URL('../contracts/Scripted.sol', import.meta.url), 'utf8')

/** Runtime code of contracts/Scripted.sol, compiled now. */
export function compileScripted(): Hex {
  const input = {
    language: 'Solidity',
    sources: { 'Scripted.sol': { content: source } },
    settings: {
      evmVersion: 'shanghai',
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  if (output.errors?.length > 0) throw new Error(output.errors[0].formattedMessage)
  return `0x${output.contracts['Scripted.sol'].Scripted.evm.deployedBytecode.object}`
}
