import { type Address, type Hex, isAddressEqual, recoverAddress } from 'viem'
import { sign } from 'viem/accounts'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { encodeTankData, sponsorshipHash, type TimeRange } from './tankData.js'

/** What the key of a tank's signer is stored for. */
export const signerPurpose = 'tank signer'

export type TankSigner = { readonly address: Address; readonly key: Hex }

/**
 * `op`, which names its tank as paymaster, with the tank's paymasterData. Its signature is read
 * back before it leaves: one that the tank would not take must not reach a client, nor reserve.
 */
export const signSponsorship = async (
  op: Operation & { readonly paymaster: Address },
  entryPoint: EntryPoint,
  chainId: number,
  range: TimeRange,
  signer: TankSigner,
): Promise<Operation> => {
  const hash = sponsorshipHash(op, entryPoint, chainId, range)
  const signature = await sign({ hash, privateKey: signer.key, to: 'hex' })
  const recovered = await recoverAddress({ hash, signature })
  if (!isAddressEqual(recovered, signer.address)) {
    throw new Error(`the stored key of tank ${op.paymaster} is not that of its signer`)
  }
  return { ...op, paymasterData: encodeTankData(range, signature) }
}
