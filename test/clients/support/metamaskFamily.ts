import {
  getSmartAccountsEnvironment,
  Implementation,
  PREFERRED_VERSION,
  toMetaMaskSmartAccount,
} from '@metamask/smart-accounts-kit'
import {
  deploySmartAccountsEnvironment,
  overrideDeployedEnvironment,
} from '@metamask/smart-accounts-kit/utils'
import { createWalletClient, http, zeroAddress, zeroHash } from 'viem'
import { entryPoint07Address, type SmartAccount } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { nodeClient } from '../../support/service/smartAccounts.js'
import { type AccountFamily, ownerOf } from './accountFamily.js'
import { passkeyOf } from '../../support/service/passkey.js'

// The kit reports each call of it to its vendor.
process.env.DO_NOT_TRACK = '1'

async function place({ rpcUrl, chainId }: DevInfo): Promise<void> {
  const account = privateKeyToAccount(devKey(3))
  const transport = http(rpcUrl)
  const wallet = createWalletClient({ account, chain: foundry, transport })
  const environment = await deploySmartAccountsEnvironment(
    wallet as never,
    nodeClient({ rpcUrl }) as never,
    foundry as never,
    { EntryPoint: entryPoint07Address },
  )
  overrideDeployedEnvironment(chainId, PREFERRED_VERSION, environment)
}

/** How the kit opens an account: what it implements, who signs, and what creates it. */
type Opening = Omit<Parameters<typeof toMetaMaskSmartAccount>[0], 'client'>

async function open(info: DevInfo, opening: object): Promise<SmartAccount> {
  const client = nodeClient(info) as never
  const account = await toMetaMaskSmartAccount({ ...(opening as Opening), client } as never)
  return account as unknown as SmartAccount
}

function openHybrid(info: DevInfo, seed: string) {
  const owner = ownerOf(seed)
  return open(info, {
    implementation: Implementation.Hybrid,
    signer: { account: owner },
    deployParams: [owner.address, [], [], []],
    deploySalt: zeroHash,
  })
}

/** A Hybrid account without a key of secp256k1. */
function openPasskey(info: DevInfo, seed: string) {
  const webAuthnAccount = passkeyOf(seed)
  const [, x, y] = /^0x(.{64})(.{64})$/.exec(webAuthnAccount.publicKey)!
  return open(info, {
    implementation: Implementation.Hybrid,
    signer: { webAuthnAccount, keyId: webAuthnAccount.id },
    deployParams: [zeroAddress, [webAuthnAccount.id], [BigInt(`0x${x}`)], [BigInt(`0x${y}`)]],
    deploySalt: zeroHash,
  })
}

function openMultiSig(info: DevInfo, seed: string) {
  const owners = [ownerOf(`${seed}, first`), ownerOf(`${seed}, second`)]
  return open(info, {
    implementation: Implementation.MultiSig,
    signer: owners.map((account) => ({ account })),
    deployParams: [owners.map(({ address }) => address), 2n],
    deploySalt: zeroHash,
  })
}

/** A plain key that delegates to MetaMask's contract, with the first operation, which the kit leaves to its user. */
async function openDelegated(info: DevInfo, seed: string): Promise<SmartAccount> {
  const owner = ownerOf(seed)
  const { EIP7702StatelessDeleGatorImpl: address } = getSmartAccountsEnvironment(
    info.chainId,
  ).implementations
  const account = await open(info, {
    implementation: Implementation.Stateless7702,
    signer: { account: owner },
    address: owner.address,
  })
  return {
    ...account,
    authorization: { account: owner, address },
    getFactoryArgs: async () => ({ factory: undefined, factoryData: undefined }),
  } as unknown as SmartAccount
}

/** The accounts of MetaMask's Smart Accounts Kit, for EntryPoint v0.7. */
export const metamaskFamily: AccountFamily = {
  place,
  kinds: (info) =>
    Object.entries({
      'MetaMask Hybrid': openHybrid,
      'MetaMask Hybrid with a passkey': openPasskey,
      'MetaMask MultiSig, 2 of 2 owners': openMultiSig,
      'MetaMask delegate (EIP-7702)': openDelegated,
    }).map(([name, opened]) => ({ name, version: '0.7', open: (seed) => opened(info(), seed) })),
}
