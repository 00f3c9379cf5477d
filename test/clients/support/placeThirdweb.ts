import { type Address, zeroAddress } from 'viem'
import { entryPoint06Address } from 'viem/account-abstraction'
import { constructAt } from './constructAt.js'
import { artifactCode } from './creationCode.js'

/** Where clients expect thirdweb's AccountFactory for EntryPoint v0.6. */
const FACTORY: Address = '0x85e23b94e7F5E9cC1fF78BCe78cfb15B81f0DF00'

export async function placeThirdweb(rpcUrl: string): Promise<void> {
  const code = artifactCode('@thirdweb-dev/contracts/abi/AccountFactory.json')
  await constructAt(rpcUrl, FACTORY, code, [zeroAddress, entryPoint06Address])
}
