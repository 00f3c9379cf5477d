// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/*
 * Calls of ERC-20 tokens that never revert, whatever the token does: a revert inside postOp costs the
 * whole operation, on EntryPoint v0.6 one of less than 32 bytes even the whole bundle. A token says
 * that it refused by a revert or by false; the many that return nothing are believed.
 */

// As gas limit: all that the caller has. Needs no GAS opcode, which validation may not use freely.
uint256 constant ALL_GAS = type(uint256).max;

interface IToken {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;
}

/// Calls the token with `data` and at most `gasLimit` gas. Its answer is never copied whole, so it
/// costs nothing to have a long one.
function tryToken(address token, bytes memory data, uint256 gasLimit) returns (bool done) {
    assembly ("memory-safe") {
        mstore(0, 0)
        done := call(gasLimit, token, 0, add(data, 32), mload(data), 0, 32)
        let saysTrue := and(gt(returndatasize(), 31), eq(mload(0), 1))
        done := and(done, or(iszero(returndatasize()), saysTrue))
    }
}

function tryTransfer(address token, address to, uint256 amount, uint256 gasLimit) returns (bool) {
    return tryToken(token, abi.encodeCall(IToken.transfer, (to, amount)), gasLimit);
}

function tryTransferFrom(address token, address from, address to, uint256 amount, uint256 gasLimit)
    returns (bool)
{
    return tryToken(token, abi.encodeCall(IToken.transferFrom, (from, to, amount)), gasLimit);
}

/// 0 when the token does not answer, or has no code.
function tokenBalance(address token, address account) view returns (uint256 units) {
    bytes memory data = abi.encodeCall(IToken.balanceOf, (account));
    assembly ("memory-safe") {
        mstore(0, 0)
        let done := staticcall(gas(), token, add(data, 32), mload(data), 0, 32)
        units := mul(mload(0), and(done, gt(returndatasize(), 31)))
    }
}
