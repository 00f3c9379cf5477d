import { type Address, getCreate2Address, type Hex, slice } from 'viem'

/** A deployer of public chains. */
export type Deployer = {
  readonly address: Address
  /** Its runtime code, where neither anvil nor another deployer has it. */
  readonly code?: Hex
  /** The address of what it creates depends on the creation code (CREATE2). A salt alone proves no code. */
  readonly commitsToCode: boolean
}

/** Takes a salt of 32 bytes and the creation code, as all of them do. */
export const deterministicDeployer: Deployer = {
  address: '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  commitsToCode: true,
}

/** Safe's singleton factory: the code of the deterministic deployer at another address. */
export const safeSingletonFactory: Deployer = {
  address: '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7',
  commitsToCode: true,
}

/** How a contract came to public chains: by a transaction that created it, or by the word of who publishes its code. */
type Origin = { readonly deployer: Deployer; readonly data: Hex } | { readonly runtime: Hex }

export type PublishedContract = {
  readonly name: string
  /** Where the checkout or the client has it; undefined where only other contracts name it, in their code. */
  readonly address: Address | undefined
  /** Source or constants of the client that names the address, where one does. */
  readonly client: string | undefined
  readonly origin: Origin
}

/** Where the origin puts the contract, as far as that proves its code. */
export function provenAddress({ origin }: PublishedContract): Address | undefined {
  if ('runtime' in origin || !origin.deployer.commitsToCode) return undefined
  return getCreate2Address({
    from: origin.deployer.address,
    salt: slice(origin.data, 0, 32),
    bytecode: slice(origin.data, 32),
  })
}
