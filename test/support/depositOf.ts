import { type Address, createPublicClient, http, parseAbi } from 'viem'

const abi = parseAbi(['function balanceOf(address account) view returns (uint256)'])

const clientOf = (rpcUrl: string) => createPublicClient({ transport: http(rpcUrl) })

/** wei that `account` has in the EntryPoint, as the chain itself says. */
export const depositOf = (rpcUrl: string, entryPoint: Address, account: Address): Promise<bigint> =>
  clientOf(rpcUrl).readContract({
    abi,
    address: entryPoint,
    functionName: 'balanceOf',
    args: [account],
  })

/** wei */
export const balanceOf = (rpcUrl: string, address: Address): Promise<bigint> =>
  clientOf(rpcUrl).getBalance({ address })
