import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  createTestClient,
  type Hex,
  http,
  publicActions,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

type Artifact = { readonly abi: Abi; readonly bytecode: Hex }

const folder = '@biconomy/common/dist/src/typechain/factories/biconomy_v2.0.0'
const require = createRequire(import.meta.url)
function artifact(name: string): Artifact {
  return require(`${folder}/${name}__factory`)[`${name}__factory`]
}

/** Addresses that the SDK hard-codes (version 2 accounts). */
const addresses = {
  factory: '0x000000a56aaca3e9a4c479ea6b6cd0dbcb6634f5',
  implementation: '0x0000002512019dafb59528b82cb92d3c5d2423ac',
  ecdsaModule: '0x0000001c5b32f37f5bea87bdd5374eb2ac54ea8e',
  fallbackHandler: '0x0bba6d96bd616bedc6bfaa341742fd43c60b83c1',
} as const

const ENTRY_POINT: Address = '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789'
const DEPLOYER = privateKeyToAccount(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
)

function replaceAddress(code: Hex, from: Address, to: Address): Hex {
  return code.replaceAll(from.slice(2).toLowerCase(), to.slice(2)) as Hex
}

/**
 * Places the version 2 account contracts where `@biconomy/account` expects them: each is deployed
 * by its own constructor, then its code is copied to the canonical address with the addresses
 * inside it (immutables) replaced, so that counterfactual addresses agree with the SDK's.
 */
export async function placeBiconomyContracts(rpcUrl: string): Promise<void> {
  const client = createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions)

  const deploy = async ({ abi, bytecode }: Artifact, args: readonly unknown[]) => {
    const hash = await client.deployContract({ account: DEPLOYER, abi, bytecode, args })
    const { contractAddress } = await client.waitForTransactionReceipt({
      hash,
      pollingInterval: 20,
    })
    const code = contractAddress && (await client.getCode({ address: contractAddress }))
    if (!contractAddress || !code) throw new Error('A contract of the SDK was not deployed.')
    return { address: contractAddress, code }
  }
  const place = (address: Address, code: Hex) => client.setCode({ address, bytecode: code })

  const implementation = await deploy(artifact('SmartAccount_v200'), [ENTRY_POINT])
  await place(
    addresses.implementation,
    replaceAddress(implementation.code, implementation.address, addresses.implementation),
  )

  const factoryArtifact = artifact('SmartAccountFactory_v200')
  const factory = await deploy(factoryArtifact, [addresses.implementation, DEPLOYER.address])
  const handler = (await client.readContract({
    address: factory.address,
    abi: factoryArtifact.abi,
    functionName: 'minimalHandler',
  })) as Address
  const handlerCode = await client.getCode({ address: handler })
  if (!handlerCode) throw new Error('The fallback handler of the SDK was not deployed.')
  await place(
    addresses.fallbackHandler,
    replaceAddress(handlerCode, handler, addresses.fallbackHandler),
  )
  await place(addresses.factory, replaceAddress(factory.code, handler, addresses.fallbackHandler))

  const { code } = await deploy(artifact('ECDSAOwnershipRegistryModule_v100'), [])
  await place(addresses.ecdsaModule, code)
}
