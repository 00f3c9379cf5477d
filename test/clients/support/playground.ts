import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { compileSolidity } from '../../support/chain/compileSolidity.js'
import { accountsClient } from './constructAt.js'

const { Playground } = compileSolidity(`
contract Playground {
    mapping(address => mapping(uint256 => uint256)) cells;

    function write(uint256 count, uint256 value) external payable {
        for (uint256 i = 0; i < count; i++) cells[msg.sender][i] = value;
    }
    function refuse(uint256 burned) external payable {
        uint256 begin = gasleft();
        while (begin - gasleft() < burned) {}
        revert("refused");
    }
    function swallow(uint256 burned) external payable {
        try this.refuse(burned) {} catch {}
    }
    function nested(uint256 depth, uint256 gasLeft) external payable {
        require(gasleft() >= gasLeft, "too little gas");
        if (depth > 0) this.nested(depth - 1, 0);
        else cells[msg.sender][depth] += 1;
    }
    receive() external payable {}
}
`)

const abi = parseAbi([
  'function write(uint256 count, uint256 value) payable',
  'function swallow(uint256 burned) payable',
  'function nested(uint256 depth, uint256 gasLeft) payable',
])

export const PLAYGROUND: Address = '0x00000000000000000000000000000000000b1a40'

/** Puts a contract on the chain that writes, calls itself deeply and swallows its own refusals. */
export function placePlayground(rpcUrl: string): Promise<void> {
  return accountsClient(rpcUrl).setCode({ address: PLAYGROUND, bytecode: Playground!.runtime })
}

/** Call data for the playground. */
export const playgroundData = {
  write: (count: bigint, value: bigint): Hex =>
    encodeFunctionData({ abi, functionName: 'write', args: [count, value] }),
  swallow: (burned: bigint): Hex =>
    encodeFunctionData({ abi, functionName: 'swallow', args: [burned] }),
  nested: (depth: bigint, gasLeft: bigint): Hex =>
    encodeFunctionData({ abi, functionName: 'nested', args: [depth, gasLeft] }),
}
