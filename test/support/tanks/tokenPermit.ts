import { type Address, hexToNumber, parseAbi, sliceHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { DevToken } from '../../../src/cli/devnet/devTokens.js'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import type { Permit } from '../../../src/paymaster/tokenData.js'
import type { TokenTankChain } from './tokenTankChain.js'

const nonceAbi = parseAbi(['function nonces(address owner) view returns (uint256)'])

/** The EIP-2612 permit of `seed`'s account, as a wallet signs it. */
export async function signPermit(
  { wallet, chainId }: TokenTankChain,
  token: DevToken,
  seed: string,
  terms: { readonly spender: Address; readonly value: bigint; readonly deadline?: bigint },
): Promise<Permit> {
  const owner = privateKeyToAccount(keyFromSeed(seed))
  const { value, deadline = 2n ** 256n - 1n } = terms
  const nonce = await wallet.readContract({
    address: token.address,
    abi: nonceAbi,
    functionName: 'nonces',
    args: [owner.address],
  })
  const signature = await owner.signTypedData({
    domain: { name: token.name, version: '1', chainId, verifyingContract: token.address },
    primaryType: 'Permit',
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    message: { owner: owner.address, spender: terms.spender, value, nonce, deadline },
  })
  if (hexToNumber(sliceHex(signature, 64)) < 27) throw new Error('v must be 27 or 28')
  return { value, deadline, signature }
}
