// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {PackedTank, PackedUserOperation} from "./PackedTank.sol";

/// @title Gas tank for EntryPoint v0.7, v0.8 and v0.9
/// @notice paymasterAndData = tank(20) | verificationGasLimit(16) | postOpGasLimit(16)
/// | validUntil(6) | validAfter(6) | signature(65), and on v0.9 optionally the ten bytes that make
/// that signature the paymasterSignature, so that account and tank may sign in either order.
/// Signed is every field of the operation except its two signatures, with both paymaster gas
/// limits, chain, tank, EntryPoint, time range and those ten bytes (zero where there are none). So a
/// signature holds in one form of paymasterAndData only, and one sponsorship has one userOpHash.
contract Tank07 is PackedTank {
    bytes32 private constant SPONSORSHIP_TYPEHASH = keccak256(
        "Sponsorship(address entryPoint,address sender,uint256 nonce,bytes initCode,bytes callData,"
        "bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,"
        "bytes32 paymasterGasLimits,uint48 validUntil,uint48 validAfter,bytes10 signatureSuffix)"
    );

    /// The length of the signature (65) and the magic value by which v0.9 knows a paymasterSignature.
    bytes10 private constant SIGNATURE_SUFFIX = hex"004122e325a297439656";

    uint256 private constant SUFFIX_AT = HEADER_LENGTH + DATA_LENGTH;

    /// @notice ERC-4337. Returns an empty context, so postOp is never called. A wrong signature is an
    /// answer and not a revert; paymasterAndData of another length reverts.
    function validatePaymasterUserOp(PackedUserOperation calldata op, bytes32, uint256)
        external
        view
        returns (bytes memory context, uint256 validationData)
    {
        _requireEntryPoint();
        require(_isWellFormed(op.paymasterAndData), "Tank: paymasterAndData must be 129 bytes");
        bytes calldata data = op.paymasterAndData[HEADER_LENGTH:];
        (uint48 validUntil, uint48 validAfter) = _times(data);
        return ("", _judge(_structHash(op, validUntil, validAfter), data));
    }

    /// @notice What a signer signs, as it is (no further prefix), to sponsor `op` from `validAfter` to
    /// `validUntil` (seconds since 1970; validUntil 0 = for ever). Of op.paymasterAndData only the
    /// first 52 bytes and the ten behind the signature are read; op.signature does not enter.
    function getHash(PackedUserOperation calldata op, uint48 validUntil, uint48 validAfter)
        external
        view
        returns (bytes32)
    {
        return _digest(_structHash(op, validUntil, validAfter));
    }

    function _structHash(PackedUserOperation calldata op, uint48 validUntil, uint48 validAfter)
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
                _initCodeHash(op.sender, op.initCode),
                keccak256(op.callData),
                op.accountGasLimits,
                op.preVerificationGas,
                op.gasFees,
                bytes32(op.paymasterAndData[20:HEADER_LENGTH]),
                validUntil,
                validAfter,
                _suffixOf(op.paymasterAndData)
            )
        );
    }

    function _isWellFormed(bytes calldata paymasterAndData) private pure returns (bool) {
        if (paymasterAndData.length == SUFFIX_AT) return true;
        return paymasterAndData.length == SUFFIX_AT + 10
            && _suffixOf(paymasterAndData) == SIGNATURE_SUFFIX;
    }

    /// @dev The bytes behind the tank's signature.
    function _suffixOf(bytes calldata paymasterAndData) private pure returns (bytes10) {
        if (paymasterAndData.length <= SUFFIX_AT) return 0;
        return bytes10(paymasterAndData[SUFFIX_AT:]);
    }
}
