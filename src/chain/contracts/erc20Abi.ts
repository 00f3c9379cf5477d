import { parseAbi } from 'viem/utils'

/** The functions of ERC-20 that we call. */
export const erc20Abi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
])
