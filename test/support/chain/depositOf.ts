import { type Address, createPublicClient, http, parseAbi } from 'viem'

const abi = parseAbi(['function balanceOf(address account) view returns (uint256)'])

function clientOf(rpcUrl: string) {
  return createPublicClient({ transport: http(rpcUrl) })
}

/** wei that `account` has in the EntryPoint, as the chain itself says. */
export function depositOf(rpcUrl: string, entryPoint: Address, account: Address): Promise<bigint> {
  return clientOf(rpcUrl).readContract({
    abi,
    address: entryPoint,
    functionName: 'balanceOf',
    args: [account],
  })
}

/** wei */
export function balanceOf(rpcUrl: string, address: Address): Promise<bigint> {
  return clientOf(rpcUrl).getBalance({ address })
}
