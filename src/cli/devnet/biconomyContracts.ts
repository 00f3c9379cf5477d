import { createRequire } from 'node:module'
import type { Abi, Address, Hex } from 'viem'
import { canonicalAddresses } from '../../erc4337/canonicalAddresses.js'
import { anvilClient } from './anvilClient.js'
import { DevChainError } from './devChainError.js'
import { packageSpec } from './devContracts.js'
import { devWallet } from './devWallet.js'

type Artifact = { readonly abi: Abi; readonly bytecode: Hex }

/** Addresses that `@biconomy/account` hard-codes (version 2 accounts). */
const addresses = {
  factory: '0x000000a56aaca3e9a4c479ea6b6cd0dbcb6634f5',
  implementation: '0x0000002512019dafb59528b82cb92d3c5d2423ac',
  ecdsaModule: '0x0000001c5b32f37f5bea87bdd5374eb2ac54ea8e',
  fallbackHandler: '0x0bba6d96bd616bedc6bfaa341742fd43c60b83c1',
} as const

const PACKAGE = '@biconomy/common'
const FOLDER = `${PACKAGE}/dist/src/typechain/factories/biconomy_v2.0.0`

/**
 * From the folder of our package, or, where ours is installed globally, from the project in the working folder.
 * @throws DevChainError when the package is not installed
 */
function artifactPath(name: string): string {
  const { resolve } = createRequire(import.meta.url)
  try {
    return resolve(`${FOLDER}/${name}__factory`, {
      paths: [import.meta.dirname, process.cwd()],
    })
  } catch (cause) {
    throw new DevChainError(
      `The optional package ${PACKAGE} is missing: npm install ${packageSpec(PACKAGE)}.`,
      { cause },
    )
  }
}

/** @throws DevChainError when the package with the code of the accounts is not installed */
export function requireBiconomyPackage(): void {
  artifactPath('SmartAccount_v200')
}

function artifact(name: string): Artifact {
  return createRequire(import.meta.url)(artifactPath(name))[`${name}__factory`]
}

function replaceAddress(code: Hex, from: Address, to: Address): Hex {
  return code.replaceAll(from.slice(2).toLowerCase(), to.slice(2)) as Hex
}

/**
 * Places the version 2 account contracts where `@biconomy/account` expects them, unless they are there: each is
 * deployed by its own constructor, then its code is copied to the canonical address with the addresses
 * inside it (immutables) replaced, so that counterfactual addresses agree with the SDK's.
 * @throws DevChainError when the package with their code is not installed
 */
export async function placeBiconomyContracts(rpcUrl: string): Promise<void> {
  const node = anvilClient(rpcUrl)
  const codes = await Promise.all(
    Object.values(addresses).map((address) => node.getCode({ address })),
  )
  if (codes.every((code) => code !== undefined)) return
  const implementationArtifact = artifact('SmartAccount_v200')
  const factoryArtifact = artifact('SmartAccountFactory_v200')
  const moduleArtifact = artifact('ECDSAOwnershipRegistryModule_v100')
  const wallet = await devWallet(rpcUrl)

  const deploy = async ({ abi, bytecode }: Artifact, args: readonly unknown[]) => {
    const hash = await wallet.deployContract({ abi, bytecode, args })
    const { contractAddress } = await wallet.waitForTransactionReceipt({ hash })
    const code = contractAddress && (await wallet.getCode({ address: contractAddress }))
    if (!contractAddress || !code) throw new DevChainError(`${rpcUrl} refused an account contract.`)
    return { address: contractAddress, code }
  }
  const place = (address: Address, code: Hex) => node.setCode({ address, bytecode: code })

  const implementation = await deploy(implementationArtifact, [canonicalAddresses['0.6']])
  await place(
    addresses.implementation,
    replaceAddress(implementation.code, implementation.address, addresses.implementation),
  )
  const owner = wallet.account.address
  const factory = await deploy(factoryArtifact, [addresses.implementation, owner])
  const handler = (await wallet.readContract({
    address: factory.address,
    abi: factoryArtifact.abi,
    functionName: 'minimalHandler',
  })) as Address
  const handlerCode = await wallet.getCode({ address: handler })
  if (!handlerCode) throw new DevChainError(`${rpcUrl} refused an account contract.`)
  await place(
    addresses.fallbackHandler,
    replaceAddress(handlerCode, handler, addresses.fallbackHandler),
  )
  await place(addresses.factory, replaceAddress(factory.code, handler, addresses.fallbackHandler))
  await place(addresses.ecdsaModule, (await deploy(moduleArtifact, [])).code)
}
