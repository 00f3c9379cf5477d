import {
  deployDeleGatorEnvironment,
  EIP7702StatelessDeleGator,
  getDeleGatorEnvironment,
  Implementation,
  overrideDeployedEnvironment,
  PREFERRED_VERSION,
  signUserOperation,
  toMetaMaskSmartAccount,
} from '@metamask/delegation-toolkit'
import { type Address, createWalletClient, http, zeroHash } from 'viem'
import { entryPoint07Address, type SmartAccount } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/devnet/devKeys.js'
import { nodeClient } from '../service/smartAccounts.js'
import { type AccountFamily, ownerOf } from './accountFamily.js'
import { constructAt } from './constructAt.js'

/** Where MetaMask has its delegate for plain keys on public chains. */
const DELEGATE: Address = '0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B'

async function place({ rpcUrl, chainId }: DevInfo): Promise<void> {
  const account = privateKeyToAccount(devKey(3))
  const transport = http(rpcUrl)
  const wallet = createWalletClient({ account, chain: foundry, transport })
  const environment = await deployDeleGatorEnvironment(
    wallet as never,
    nodeClient({ rpcUrl }) as never,
    foundry as never,
    { EntryPoint: entryPoint07Address },
  )
  overrideDeployedEnvironment(chainId, PREFERRED_VERSION, environment)
  const code = EIP7702StatelessDeleGator.bytecode
  await constructAt(rpcUrl, DELEGATE, code, [environment.DelegationManager, entryPoint07Address])
}

async function openHybrid(info: DevInfo, seed: string): Promise<SmartAccount> {
  const owner = ownerOf(seed)
  return (await toMetaMaskSmartAccount({
    client: nodeClient(info) as never,
    implementation: Implementation.Hybrid,
    signatory: { account: owner },
    deployParams: [owner.address, [], [], []],
    deploySalt: zeroHash,
  })) as unknown as SmartAccount
}

/**
 * A plain key that delegates to MetaMask's EIP7702StatelessDeleGator. This version of the toolkit has the
 * contract but no client for it: its client of the Hybrid account, with the name that the delegate signs by.
 */
async function openDelegated(info: DevInfo, seed: string): Promise<SmartAccount> {
  const owner = ownerOf(seed)
  const environment = getDeleGatorEnvironment(info.chainId)
  const account = (await toMetaMaskSmartAccount({
    client: nodeClient(info) as never,
    implementation: Implementation.Hybrid,
    signatory: { account: owner },
    address: owner.address,
    environment,
  })) as unknown as SmartAccount
  return {
    ...account,
    authorization: { account: owner, address: DELEGATE },
    // The toolkit's dummy has 64 bytes, for which this contract reverts.
    getStubSignature: async () => `0x${'12'.repeat(64)}1b`,
    getFactoryArgs: async () => ({ factory: undefined, factoryData: undefined }),
    signUserOperation: (userOperation: object) =>
      signUserOperation({
        signer: { account: owner, signTypedData: owner.signTypedData } as never,
        userOperation: { ...userOperation, sender: owner.address } as never,
        entryPoint: { address: entryPoint07Address },
        chainId: info.chainId,
        name: 'EIP7702StatelessDeleGator' as never,
        address: owner.address,
      }),
  } as unknown as SmartAccount
}

/** MetaMask's smart accounts for EntryPoint v0.7: Hybrid, and its delegate of EIP-7702. */
export const metamaskFamily: AccountFamily = {
  place,
  kinds: (info) => [
    { name: 'MetaMask Hybrid', version: '0.7', open: (seed) => openHybrid(info(), seed) },
    {
      name: 'MetaMask delegate (EIP-7702)',
      version: '0.7',
      open: (seed) => openDelegated(info(), seed),
    },
  ],
}
