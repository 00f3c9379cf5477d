import solc from 'solc'
import type { Abi, Hex } from 'viem'

export type Compiled = { readonly abi: Abi; readonly bytecode: Hex; readonly runtime: Hex }

/** Compiles contracts that only a test needs, by name. */
export function compileSolidity(
  source: string,
  evmVersion: 'shanghai' | 'cancun' = 'shanghai',
): Record<string, Compiled> {
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { 'test.sol': { content: `pragma solidity ^0.8.30;\n${source}` } },
        settings: {
          evmVersion,
          optimizer: { enabled: true },
          outputSelection: {
            '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
          },
        },
      }),
    ),
  )
  const errors = (output.errors ?? []).filter((e: { severity: string }) => e.severity === 'error')
  if (errors.length > 0) throw new Error(errors[0].formattedMessage)
  type Output = { abi: Abi; evm: Record<'bytecode' | 'deployedBytecode', { object: string }> }
  const contracts = Object.entries(output.contracts['test.sol'] as Record<string, Output>)
  return Object.fromEntries(
    contracts.map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}`, runtime: `0x${evm.deployedBytecode.object}` },
    ]),
  )
}
