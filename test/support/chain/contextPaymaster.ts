import { concatHex, type Hex, padHex, toHex } from 'viem'
import { compileSolidity } from './compileSolidity.js'

/**
 * A paymaster of every EntryPoint version that pays for all and then writes in postOp as many slots as
 * its last creation argument says.
 */
const compiled = compileSolidity(`
contract ContextPaymaster {
    uint256 immutable work;
    uint256 charged;
    mapping(uint256 => uint256) slots;

    constructor(uint256 work_) { work = work_; }

    fallback() external {
        if (msg.sig == 0xf465c77e || msg.sig == 0x52b7512c) {
            bytes memory result = abi.encode(abi.encode(msg.sender), uint256(0));
            assembly { return(add(result, 32), mload(result)) }
        }
        charged = charged + 1;
        for (uint256 i = 0; i < work; i++) slots[charged * 1000 + i] = 1;
    }
}
`).ContextPaymaster

export function contextPaymasterCode(work: number): Hex {
  if (!compiled) throw new Error('ContextPaymaster was not compiled')
  return concatHex([compiled.bytecode, padHex(toHex(work), { size: 32 })])
}
