// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {PackedTank, PackedUserOperation} from "./PackedTank.sol";
import {Payment, Quote, TokenTank} from "./TokenTank.sol";

/// @title Token tank for EntryPoint v0.7
/// @notice paymasterAndData = tank(20) | verificationGasLimit(16) | postOpGasLimit(16) | the data of
/// TokenTank, whose postOpGas must be the postOpGasLimit.
contract TokenTank07 is PackedTank, TokenTank {
    bytes32 private constant PAYMENT_TYPEHASH = keccak256(
        "TokenPayment(address entryPoint,address sender,uint256 nonce,bytes initCode,bytes callData,"
        "bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,"
        "bytes32 paymasterGasLimits,"
        "uint8 mode,address token,uint256 rate,uint32 markup,uint32 postOpGas,address treasury,"
        "uint48 validUntil,uint48 validAfter,bytes permit)"
    );

    /// @notice ERC-4337. A wrong signature is an answer and not a revert.
    function validatePaymasterUserOp(PackedUserOperation calldata op, bytes32 userOpHash, uint256 maxCost)
        external
        returns (bytes memory context, uint256 validationData)
    {
        _requireEntryPoint();
        bytes calldata data = op.paymasterAndData[HEADER_LENGTH:];
        Quote memory quote = _quoteIn(data);
        require(
            _low(bytes32(op.paymasterAndData[20:HEADER_LENGTH])) == quote.postOpGas,
            "Tank: postOpGas is not the postOpGasLimit"
        );
        Payment memory payment = Payment(userOpHash, op.sender, quote, maxCost);
        validationData = _accept(_structHash(op, quote, data), data, payment);
        context = abi.encode(payment, _low(op.accountGasLimits), _validationGas(op));
    }

    /// @notice ERC-4337. When it reverts, the operation is taken back and the tank pays.
    function postOp(uint8 mode, bytes calldata context, uint256 actualGasCost, uint256 gasPrice) external {
        uint256 start = gasleft();
        _requireEntryPoint();
        (Payment memory payment, uint256 callGas, uint256 validationGas) =
            abi.decode(context, (Payment, uint256, uint256));
        uint256 gas = payment.quote.postOpGas + POST_OP_OVERHEAD
            + _penalty(actualGasCost, gasPrice, callGas, validationGas);
        _settle(mode, payment, actualGasCost + gas * gasPrice, start);
    }

    /// @notice What a signer signs, as it is (no further prefix), to take tokens for `op`. Of
    /// op.paymasterAndData the signature does not enter; nor does op.signature.
    function getHash(PackedUserOperation calldata op) external view returns (bytes32) {
        bytes calldata data = op.paymasterAndData[HEADER_LENGTH:];
        return _digest(_structHash(op, _quoteIn(data), data));
    }

    /// @notice The most that the quote in `op` lets the tank take, in units of its token.
    function maxCharge(PackedUserOperation calldata op) external pure returns (uint256) {
        Quote memory quote = _quoteIn(op.paymasterAndData[HEADER_LENGTH:]);
        uint256 gas = _low(op.accountGasLimits) + _validationGas(op) + quote.postOpGas;
        return _charge(quote, gas * _low(op.gasFees));
    }

    /// @dev Gas that the EntryPoint will charge for call gas that was not used: a tenth of it, which
    /// v0.7 adds after postOp. postOp's own is within what is charged for postOp: using less of a
    /// limit and paying a tenth of the rest never costs more than all of it. How much validation used
    /// is not known here, but its limits are.
    function _penalty(uint256 actualGasCost, uint256 gasPrice, uint256 callGas, uint256 validationGas)
        internal
        pure
        virtual
        returns (uint256)
    {
        uint256 used = gasPrice == 0 ? 0 : actualGasCost / gasPrice;
        uint256 usedByCall = used > validationGas ? used - validationGas : 0;
        return usedByCall < callGas ? (callGas - usedByCall) / 10 : 0;
    }

    /// @dev The most that is charged before the call.
    function _validationGas(PackedUserOperation calldata op) private pure returns (uint256) {
        return op.preVerificationGas + _high(op.accountGasLimits)
            + _high(bytes32(op.paymasterAndData[20:HEADER_LENGTH]));
    }

    function _high(bytes32 pair) private pure returns (uint256) {
        return uint256(pair) >> 128;
    }

    function _low(bytes32 pair) private pure returns (uint256) {
        return uint128(uint256(pair));
    }

    function _structHash(PackedUserOperation calldata op, Quote memory quote, bytes calldata data)
        private
        view
        returns (bytes32)
    {
        return keccak256(
            bytes.concat(
                abi.encode(
                    PAYMENT_TYPEHASH,
                    entryPoint(),
                    op.sender,
                    op.nonce,
                    _initCodeHash(op.sender, op.initCode),
                    keccak256(op.callData),
                    op.accountGasLimits,
                    op.preVerificationGas,
                    op.gasFees,
                    bytes32(op.paymasterAndData[20:HEADER_LENGTH])
                ),
                _quoteWords(quote, data)
            )
        );
    }
}
