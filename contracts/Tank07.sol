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

/// @title Gas tank for EntryPoint v0.7, v0.8 and v0.9
/// @notice paymasterAndData = tank(20) | verificationGasLimit(16) | postOpGasLimit(16)
/// | validUntil(6) | validAfter(6) | signature(65), and on v0.9 optionally the ten bytes that make
/// that signature the paymasterSignature, so that account and tank may sign in either order.
/// Signed is every field of the operation except its two signatures, with both paymaster gas
/// limits, chain, tank, EntryPoint and time range.
contract Tank07 is BaseTank {
    bytes32 private constant SPONSORSHIP_TYPEHASH = keccak256(
        "Sponsorship(address entryPoint,address sender,uint256 nonce,bytes initCode,bytes callData,"
        "bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,"
        "bytes32 paymasterGasLimits,uint48 validUntil,uint48 validAfter)"
    );

    uint256 private constant HEADER_LENGTH = 52;

    /// The length of the signature (65) and the magic value by which v0.9 knows a paymasterSignature.
    bytes10 private constant SIGNATURE_SUFFIX = hex"004122e325a297439656";

    bytes20 private constant EIP7702_MARKER = hex"7702";

    error NotDelegated(address sender);

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
    /// first 52 bytes are read; op.signature does not enter.
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
                validAfter
            )
        );
    }

    /// @dev With the EIP-7702 marker the first 20 bytes stand for the sender's delegate, and the
    /// delegate is what must be signed: the same operation under another delegate is another one.
    function _initCodeHash(address sender, bytes calldata initCode) private view returns (bytes32) {
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

    function _isWellFormed(bytes calldata paymasterAndData) private pure returns (bool) {
        uint256 signed = HEADER_LENGTH + DATA_LENGTH;
        if (paymasterAndData.length == signed) return true;
        return paymasterAndData.length == signed + 10
            && bytes10(paymasterAndData[signed:]) == SIGNATURE_SUFFIX;
    }
}
