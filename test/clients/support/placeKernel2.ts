import type { Address, Hex } from 'viem'
import { constructAt } from './constructAt.js'
import { artifactCode, broadcastCode } from './creationCode.js'

/** Where Kernel 2.0 ("0.0.2") is on public chains. */
export const KERNEL_2_FACTORY: Address = '0x5D006d3880645ec6e254E18C1F879DAC9Dd71A39'
export const KERNEL_2_VALIDATOR: Address = '0x180D6465F921C7E0DEA0040107D342c87455fFF5'
/** Where ZeroDev's client looks for the contract that makes several calls. */
const MULTI_SEND: Address = '0x8ae01fcf7c655655ff2c6ef907b8b4718ab4e17c'

/** The contracts of Kernel 2.0 as ZeroDev's own deployment sent them to a public chain. */
export function kernel2Contracts(): readonly { readonly address: Address; readonly code: Hex }[] {
  const [factory, validator] = broadcastCode(
    '@zerodevapp/contracts/broadcast/DeployKernel.s.sol/5/run-latest.json',
  )
  return [
    { address: KERNEL_2_FACTORY, code: factory! },
    { address: KERNEL_2_VALIDATOR, code: validator! },
  ]
}

/** Kernel 2.0 for EntryPoint v0.6, its factory and its ECDSA validator; Safe's MultiSend for several calls. */
export async function placeKernel2(rpcUrl: string): Promise<void> {
  for (const { address, code } of kernel2Contracts()) await constructAt(rpcUrl, address, code)
  const build = '@safe-global/safe-contracts/build/artifacts/contracts/libraries'
  await constructAt(rpcUrl, MULTI_SEND, artifactCode(`${build}/MultiSend.sol/MultiSend.json`))
}
