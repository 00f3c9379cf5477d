import type { Hex } from 'viem'
import { compileSolidity } from './compileSolidity.js'

/**
 * An account and paymaster of EntryPoint v0.6 that is modest in every simulation and spends all gas that it
 * is given in blocks of its accomplice (`block.coinbase` is SPENDER): its call ends in a revert reason of
 * 2,048 bytes, its first postOp fails and its second one burns the rest. With a context of one byte postOp
 * fails without a reason, on which the EntryPoint itself ends without one.
 *
 * The call takes any bytes. The context that it returns as paymaster has as many bytes as the two bytes
 * behind its address in paymasterAndData say.
 */
const compiled = compileSolidity(`
struct UserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit;
    uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas;
    uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature;
}

contract SpendingAccount {
    address constant SPENDER = 0x5be4DE5be4dE5bE4de5Be4De5BE4DE5BE4de5be4;

    function validateUserOp(UserOperation calldata, bytes32, uint256 missing)
        external returns (uint256)
    {
        if (missing > 0) { (bool paid,) = msg.sender.call{value: missing}(""); paid; }
        return 0;
    }
    function validatePaymasterUserOp(UserOperation calldata op, bytes32, uint256)
        external pure returns (bytes memory, uint256)
    {
        return (new bytes(uint16(bytes2(op.paymasterAndData[20:22]))), 0);
    }
    function postOp(uint8 mode, bytes calldata context, uint256) external view {
        if (block.coinbase != SPENDER) return;
        if (context.length == 1) assembly { revert(0, 0) }
        while (gasleft() > 900) {}
        require(mode == 2, "spent");
    }
    receive() external payable {}
    fallback() external payable {
        if (block.coinbase != SPENDER) return;
        while (gasleft() > 600) {}
        assembly { revert(0, 2048) }
    }
}
`).SpendingAccount

if (!compiled) throw new Error('SpendingAccount was not compiled')

export const SPENDER = '0x5be4de5be4de5be4de5be4de5be4de5be4de5be4'

export const spendingAccountCode: Hex = compiled.runtime
