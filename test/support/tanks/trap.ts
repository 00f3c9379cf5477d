import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { AccountCall } from '../../../src/cli/devnet/simpleAccount.js'
import { compileSolidity } from '../chain/compileSolidity.js'

/** A contract that, once armed, takes the tokens of the account that calls it. */
export const { Trap } = compileSolidity(`
interface Token {
  function balanceOf(address) external view returns (uint256);
  function transferFrom(address, address, uint256) external;
}
contract Trap {
  bool public armed;
  function arm(bool on) external { armed = on; }
  function spring(Token token, address thief) external {
    if (armed) token.transferFrom(msg.sender, thief, token.balanceOf(msg.sender));
  }
}`)

const abi = parseAbi(['function executeBatch(address[] to, bytes[] data)'])

/** Call data with which an account makes several calls. */
export function batch(...calls: readonly AccountCall[]): Hex {
  const [to, data]: [Address[], Hex[]] = [[], []]
  for (const each of calls) {
    to.push(each.to)
    data.push(each.data ?? '0x')
  }
  return encodeFunctionData({ abi, functionName: 'executeBatch', args: [to, data] })
}
