import { LocalAccountSigner, type SmartContractAccount } from '@aa-sdk/core'
import { type Address, type Hex, http } from 'viem'
import {
  entryPoint06Abi,
  entryPoint07Abi,
  getUserOperationHash,
  type SmartAccount,
  toSmartAccount,
  type UserOperation,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../../../src/cli/devInfo.js'
import { keyFromSeed } from '../../../../src/cli/devnet/simpleAccount.js'
import { nodeClient } from '../../../support/service/smartAccounts.js'

const abis = { '0.6': entryPoint06Abi, '0.7': entryPoint07Abi } as const

/** What each maker of accounts of @account-kit/smart-contracts asks for. */
export function aaSdkOptions({ rpcUrl }: DevInfo, seed: string) {
  const signer = LocalAccountSigner.privateKeyToAccountSigner(keyFromSeed(seed))
  return { chain: foundry, transport: http(rpcUrl), signer }
}

/** viem's form of an account of aa-sdk: calls, factory, dummy and signature are all those of aa-sdk. */
export function fromAaSdk(
  info: DevInfo,
  version: '0.6' | '0.7',
  account: SmartContractAccount,
): Promise<SmartAccount> {
  const entryPointAddress = info.entryPoints[version] as Address
  return toSmartAccount({
    client: nodeClient(info),
    entryPoint: { abi: abis[version], address: entryPointAddress, version },
    getAddress: async () => account.address,
    getFactoryArgs: async () => ({
      factory: await account.getFactoryAddress(),
      factoryData: await account.getFactoryData(),
    }),
    getNonce: () => account.getAccountNonce(),
    encodeCalls: (calls) => {
      const all = calls.map(({ to, value = 0n, data = '0x' as Hex }) => ({
        target: to,
        value,
        data,
      }))
      return all.length === 1 ? account.encodeExecute(all[0]!) : account.encodeBatchExecute(all)
    },
    getStubSignature: async () => account.getDummySignature() as Hex,
    signMessage: ({ message }) => account.signMessage({ message }),
    signTypedData: (typed) => account.signTypedData(typed as never),
    signUserOperation: (operation) => {
      const userOperation = {
        ...operation,
        sender: account.address,
        signature: '0x',
      } as UserOperation
      const hash = getUserOperationHash({
        chainId: info.chainId,
        userOperation,
        entryPointAddress,
        entryPointVersion: version,
      })
      return account.signUserOperationHash(hash)
    },
  }) as Promise<SmartAccount>
}
