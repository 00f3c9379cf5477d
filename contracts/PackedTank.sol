// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {BaseTank} from "./BaseTank.sol";

/// The operation of EntryPoint v0.7 and later.
struct PackedUserOperation {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    bytes32 accountGasLimits;
    uint256 preVerificationGas;
    bytes32 gasFees;
    bytes paymasterAndData;
    bytes signature;
}

/// @title What the tanks of EntryPoint v0.7 and later share
abstract contract PackedTank is BaseTank {
    /// paymasterAndData begins tank(20) | verificationGasLimit(16) | postOpGasLimit(16).
    uint256 internal constant HEADER_LENGTH = 52;

    bytes20 private constant EIP7702_MARKER = hex"7702";

    error NotDelegated(address sender);

    /// @dev With the EIP-7702 marker the first 20 bytes stand for the sender's delegate, and the
    /// delegate is what must be signed: the same operation under another delegate is another one.
    function _initCodeHash(address sender, bytes calldata initCode) internal view returns (bytes32) {
        if (bytes20(initCode) != EIP7702_MARKER) return keccak256(initCode);
        bytes20 delegate = _delegateOf(sender);
        if (initCode.length <= 20) return keccak256(abi.encodePacked(delegate));
        return keccak256(abi.encodePacked(delegate, initCode[20:]));
    }

    function _delegateOf(address sender) private view returns (bytes20) {
        bytes32 code;
        assembly ("memory-safe") {
            mstore(0, 0)
            extcodecopy(sender, 0, 0, 23)
            code := mload(0)
        }
        if (bytes3(code) != 0xef0100) revert NotDelegated(sender);
        return bytes20(code << 24);
    }
}
