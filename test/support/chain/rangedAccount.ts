import type { Hex } from 'viem'
import { compileSolidity } from './compileSolidity.js'

/**
 * An account of EntryPoint v0.7 and later that takes every signature, and whose validity is what the first
 * word of the signature says.
 */
const compiled = compileSolidity(`
struct PackedUserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits;
    uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature;
}

contract RangedAccount {
    function validateUserOp(PackedUserOperation calldata op, bytes32, uint256 missing)
        external returns (uint256)
    {
        if (missing > 0) { (bool paid,) = msg.sender.call{value: missing}(""); paid; }
        return uint256(bytes32(op.signature));
    }
    receive() external payable {}
    fallback() external payable {}
}
`).RangedAccount

if (!compiled) throw new Error('RangedAccount was not compiled')

export const rangedAccountCode: Hex = compiled.runtime
