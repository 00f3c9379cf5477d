import { type Address, encodeFunctionData, parseAbi, parseEther } from 'viem'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { DETERMINISTIC_DEPLOYER, tankFactoryAddress } from '../../../src/contracts/deployments.js'
import { devWallet } from '../../../src/devnet/devWallet.js'
import type { Version } from '../../../src/entrypoint/entryPoint.js'
import {
  tankAddress,
  tankCreation,
  tankImplementation,
} from '../../../src/paymaster/tank/tankAddress.js'
import type { TankKind } from '../../../src/store/schema.js'
import { withBooks } from '../database/books.js'

const depositAbi = parseAbi(['function depositTo(address account) payable'])

/**
 * Gives the app of a running `purser dev` a tank with the first version of the contract in place of the one
 * that it has, as an app has it that was set up by release 0.1.0. Returns its address.
 */
export async function useFirstTank(
  info: DevInfo,
  dataFolder: string,
  version: Version,
  kind: TankKind,
): Promise<Address> {
  const present = (kind === 'gas' ? info.tanks : info.tokenTanks)[version] as Address
  const factory = tankFactoryAddress.address
  const wallet = await devWallet(info.rpcUrl)
  return withBooks(dataFolder, async (database) => {
    const row = await database
      .selectFrom('tanks')
      .selectAll()
      .where('address', '=', present)
      .executeTakeFirstOrThrow()
    const { owner, signer, entry_point: entryPoint } = row
    const parts = { kind, version, contract: 1, entryPoint, owner, signer } as const
    const address = tankAddress(factory, parts)
    const send = async (to: Address, data: `0x${string}`, value = 0n) => {
      const hash = await wallet.sendTransaction({ to, data, value, gas: 10_000_000n })
      await wallet.waitForTransactionReceipt({ hash })
    }
    await send(DETERMINISTIC_DEPLOYER, tankImplementation(kind, version, 1).deployData)
    await send(factory, tankCreation(parts))
    const data = encodeFunctionData({ abi: depositAbi, functionName: 'depositTo', args: [address] })
    await send(entryPoint, data, parseEther('1'))
    await database
      .updateTable('tanks')
      .set({ address, contract: 1 })
      .where('id', '=', row.id)
      .execute()
    return address
  })
}
