import { parseAbi } from 'viem/utils'

/** What we ask tokens for. */
export const erc20Abi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
])
