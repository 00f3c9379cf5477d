// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {BaseTank} from "./BaseTank.sol";

/// The operation of EntryPoint v0.6.
struct UserOperation {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    uint256 callGasLimit;
    uint256 verificationGasLimit;
    uint256 preVerificationGas;
    uint256 maxFeePerGas;
    uint256 maxPriorityFeePerGas;
    bytes paymasterAndData;
    bytes signature;
}

/// @title Gas tank for EntryPoint v0.6
/// @notice paymasterAndData = tank(20) | validUntil(6) | validAfter(6) | signature(65).
/// Signed is every field of the operation except its two signatures, with chain, tank, EntryPoint
/// and time range.
contract Tank06 is BaseTank {
    bytes32 private constant SPONSORSHIP_TYPEHASH = keccak256(
        "Sponsorship(address entryPoint,address sender,uint256 nonce,bytes initCode,bytes callData,"
        "uint256 callGasLimit,uint256 verificationGasLimit,uint256 preVerificationGas,"
        "uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,uint48 validUntil,uint48 validAfter)"
    );

    /// @notice ERC-4337. Returns an empty context, so postOp is never called. A wrong signature is an
    /// answer and not a revert; paymasterAndData of another length reverts.
    function validatePaymasterUserOp(UserOperation calldata op, bytes32, uint256)
        external
        view
        returns (bytes memory context, uint256 validationData)
    {
        _requireEntryPoint();
        require(op.paymasterAndData.length == 20 + DATA_LENGTH, "Tank: paymasterAndData must be 97 bytes");
        bytes calldata data = op.paymasterAndData[20:];
        (uint48 validUntil, uint48 validAfter) = _times(data);
        return ("", _judge(_structHash(op, validUntil, validAfter), data));
    }

    /// @notice What a signer signs, as it is (no further prefix), to sponsor `op` from `validAfter` to
    /// `validUntil` (seconds since 1970; validUntil 0 = for ever). op.paymasterAndData and
    /// op.signature do not enter.
    function getHash(UserOperation calldata op, uint48 validUntil, uint48 validAfter)
        external
        view
        returns (bytes32)
    {
        return _digest(_structHash(op, validUntil, validAfter));
    }

    function _structHash(UserOperation calldata op, uint48 validUntil, uint48 validAfter)
        private
        view
        returns (bytes32)
    {
        return keccak256(
            abi.encode(
                SPONSORSHIP_TYPEHASH,
                entryPoint(),
                op.sender,
                op.nonce,
                keccak256(op.initCode),
                keccak256(op.callData),
                op.callGasLimit,
                op.verificationGasLimit,
                op.preVerificationGas,
                op.maxFeePerGas,
                op.maxPriorityFeePerGas,
                validUntil,
                validAfter
            )
        );
    }
}
