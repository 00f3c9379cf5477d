import { signerToEcdsaValidator } from '@zerodev/ecdsa-validator'
import { createKernelAccountV0_2 } from '@zerodev/sdk/accounts'
import { toKernelSmartAccount } from 'permissionless/accounts'
import { encodeFunctionData, parseAbi } from 'viem'
import type { SmartAccount } from 'viem/account-abstraction'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { type AccountFamily, commonOf, ownerOf } from './accountFamily.js'
import { placeKernel } from './placeKernel.js'
import { KERNEL_2_FACTORY, KERNEL_2_VALIDATOR, placeKernel2 } from './placeKernel2.js'

const factoryAbi = parseAbi([
  'function createAccount(address validator, bytes data, uint256 index) returns (address)',
  'function getAccountAddress(address validator, bytes data, uint256 index) view returns (address)',
])

/**
 * Kernel 2.0 by ZeroDev's client, which can use an account but not create one: its factoryData begins with
 * the factory once more. So address and factoryData are made here.
 */
async function openKernel2(info: DevInfo, seed: string): Promise<SmartAccount> {
  const { client, entryPoint } = commonOf(info, '0.6')
  const owner = ownerOf(seed)
  const factory = KERNEL_2_FACTORY
  const created = [KERNEL_2_VALIDATOR, owner.address, 0n] as const
  const address = await client.readContract({
    abi: factoryAbi,
    address: factory,
    functionName: 'getAccountAddress',
    args: created,
  })
  const sudo = await signerToEcdsaValidator(client, {
    signer: owner,
    entryPoint,
    kernelVersion: '0.0.2',
    validatorAddress: KERNEL_2_VALIDATOR,
  } as never)
  const account = { entryPoint, plugins: { sudo }, factoryAddress: factory, address }
  const kernel = await createKernelAccountV0_2(client, account as never)
  const factoryData = encodeFunctionData({
    abi: factoryAbi,
    functionName: 'createAccount',
    args: created,
  })
  const getFactoryArgs = async () =>
    (await kernel.isDeployed())
      ? { factory: undefined, factoryData: undefined }
      : { factory, factoryData }
  return { ...kernel, getFactoryArgs } as unknown as SmartAccount
}

/** Kernel of ZeroDev: 2.0 by its own client, 3.1 by permissionless. */
export const kernelFamily: AccountFamily = {
  async place({ rpcUrl }) {
    await placeKernel2(rpcUrl)
    await placeKernel(rpcUrl)
  },
  kinds: (info) => [
    { name: 'Kernel 2.0', version: '0.6', open: (seed) => openKernel2(info(), seed) },
    {
      name: 'Kernel 3.1',
      version: '0.7',
      open: (seed) => {
        const version = '0.3.1' as const
        const account = { ...commonOf(info(), '0.7'), version, owners: [ownerOf(seed)] }
        return toKernelSmartAccount(account as never) as Promise<SmartAccount>
      },
    },
  ],
}
