// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {UserOperation} from "./Tank06.sol";
import {Payment, Quote, TokenTank} from "./TokenTank.sol";

/// @title Token tank for EntryPoint v0.6
/// @notice paymasterAndData = tank(20) | the data of TokenTank.
/// @dev v0.6 runs postOp under verificationGasLimit and charges a prefund for three times that. What
/// postOp may use is therefore a part of the quote, and the most that an operation can cost is
/// computed from it.
contract TokenTank06 is TokenTank {
    bytes32 private constant PAYMENT_TYPEHASH = keccak256(
        "TokenPayment(address entryPoint,address sender,uint256 nonce,bytes initCode,bytes callData,"
        "uint256 callGasLimit,uint256 verificationGasLimit,uint256 preVerificationGas,"
        "uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,"
        "uint8 mode,address token,uint256 rate,uint32 markup,uint32 postOpGas,address treasury,"
        "uint48 validUntil,uint48 validAfter,bytes permit)"
    );

    /// Gas of innerHandleOp outside of all limits; the event for 2,048 bytes of revert data is most.
    uint256 private constant INNER_OVERHEAD = 30_000;

    /// @notice ERC-4337. A wrong signature is an answer and not a revert.
    function validatePaymasterUserOp(UserOperation calldata op, bytes32 userOpHash, uint256)
        external
        returns (bytes memory context, uint256 validationData)
    {
        _requireEntryPoint();
        bytes calldata data = op.paymasterAndData[20:];
        Quote memory quote = _quoteIn(data);
        // A postOp that runs out of gas reverts without data, which would take the bundle with it.
        require(
            op.verificationGasLimit >= _leastVerificationGas(quote),
            "Tank: verificationGasLimit leaves postOp too little"
        );
        Payment memory payment = Payment(userOpHash, op.sender, quote, _maxCost(op, quote));
        validationData = _accept(_structHash(op, quote, data), data, payment);
        context = abi.encode(payment, op.maxFeePerGas, op.maxPriorityFeePerGas);
    }

    /// @notice ERC-4337. Called a second time (mode 2) when it reverted the first time.
    function postOp(uint8 mode, bytes calldata context, uint256 actualGasCost) external {
        uint256 start = gasleft();
        _requireEntryPoint();
        (Payment memory payment, uint256 maxFee, uint256 priorityFee) =
            abi.decode(context, (Payment, uint256, uint256));
        uint256 gas = payment.quote.postOpGas + POST_OP_OVERHEAD;
        _settle(mode, payment, actualGasCost + gas * _gasPrice(maxFee, priorityFee), start);
    }

    /// @notice What a signer signs, as it is (no further prefix), to take tokens for `op`. Of
    /// op.paymasterAndData the signature does not enter; nor does op.signature.
    function getHash(UserOperation calldata op) external view returns (bytes32) {
        bytes calldata data = op.paymasterAndData[20:];
        return _digest(_structHash(op, _quoteIn(data), data));
    }

    /// @notice The most that the quote in `op` lets the tank take, in units of its token.
    function maxCharge(UserOperation calldata op) external pure returns (uint256) {
        Quote memory quote = _quoteIn(op.paymasterAndData[20:]);
        return _charge(quote, _maxCost(op, quote));
    }

    /// @dev wei. In mode 1 postOp may run twice.
    function _maxCost(UserOperation calldata op, Quote memory quote) private pure returns (uint256) {
        uint256 postOps = quote.mode == AFTERWARDS ? 2 : 1;
        uint256 gas = op.preVerificationGas + op.verificationGasLimit + op.callGasLimit + INNER_OVERHEAD
            + postOps * (quote.postOpGas + POST_OP_OVERHEAD);
        return gas * op.maxFeePerGas;
    }

    /// @dev With EIP-150 on two calls, and with what innerHandleOp itself uses before and after postOp.
    function _leastVerificationGas(Quote memory quote) private pure returns (uint256) {
        return quote.postOpGas + quote.postOpGas / 32 + INNER_OVERHEAD + POST_OP_OVERHEAD;
    }

    /// @dev As the EntryPoint computes it: equal fees are taken as they are.
    function _gasPrice(uint256 maxFee, uint256 priorityFee) private view returns (uint256) {
        if (maxFee == priorityFee) return maxFee;
        uint256 wanted = priorityFee + block.basefee;
        return wanted < maxFee ? wanted : maxFee;
    }

    function _structHash(UserOperation calldata op, Quote memory quote, bytes calldata data)
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
                    keccak256(op.initCode),
                    keccak256(op.callData),
                    op.callGasLimit,
                    op.verificationGasLimit,
                    op.preVerificationGas,
                    op.maxFeePerGas,
                    op.maxPriorityFeePerGas
                ),
                _quoteWords(quote, data)
            )
        );
    }
}
