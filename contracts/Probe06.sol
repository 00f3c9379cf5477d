// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

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

/// The fixed fields of an operation, as EntryPoint v0.6 keeps them.
struct OperationFields {
    address sender;
    uint256 nonce;
    uint256 callGasLimit;
    uint256 verificationGasLimit;
    uint256 preVerificationGas;
    address paymaster;
    uint256 maxFeePerGas;
    uint256 maxPriorityFeePerGas;
}

/// What EntryPoint v0.6 hands to its innerHandleOp.
struct OperationInfo {
    OperationFields fields;
    bytes32 userOpHash;
    uint256 prefund;
    uint256 contextOffset;
    uint256 preOpGas;
}

struct ReturnInfo {
    uint256 preOpGas;
    uint256 prefund;
    bool sigFailed;
    uint48 validAfter;
    uint48 validUntil;
    bytes paymasterContext;
}

struct StakeInfo {
    uint256 stake;
    uint256 unstakeDelay;
}

struct AggregatorInfo {
    address aggregator;
    StakeInfo stake;
}

interface IEntryPoint06 {
    error ValidationResult(ReturnInfo info, StakeInfo sender, StakeInfo factory, StakeInfo paymaster);
    error ValidationResultWithAggregation(
        ReturnInfo info, StakeInfo sender, StakeInfo factory, StakeInfo paymaster, AggregatorInfo aggregator
    );
    error ExecutionResult(
        uint256 preOpGas,
        uint256 paid,
        uint48 validAfter,
        uint48 validUntil,
        bool targetSuccess,
        bytes targetResult
    );

    function simulateValidation(UserOperation calldata op) external;
    function simulateHandleOp(UserOperation calldata op, address target, bytes calldata targetCallData) external;
    function postOp(uint8 mode, bytes calldata context, uint256 actualGasCost) external;
}

/// How narrowly a gas limit is known: `floor` does not do, `ceiling` does. 0 and 0 = nothing known.
struct Bracket {
    uint256 floor;
    uint256 ceiling;
    /// Gas used under an ample limit.
    uint256 used;
}

struct Measurement {
    /// Every bracket is narrow. Otherwise gas ran out: measure again with `call` as found so far.
    bool complete;
    Bracket call;
    Bracket verification;
    /// Of the paymaster's postOp; zero when validation returned no context.
    Bracket postOp;
    uint48 validAfter;
    uint48 validUntil;
}

/// A call of this contract to itself that always reverts and so leaves no trace, neither in state nor in
/// what is warm, for the next one. The gas limit to try is patched into `data` at `limitAt`.
struct Trial {
    bytes data;
    uint256 limitAt;
    /// Reported as used but not part of what is measured.
    uint256 base;
    function(bytes memory) internal pure returns (bool, uint256) read;
}

/// @title What a node tells us about an operation of EntryPoint v0.6
/// @notice Never deployed. eth_call places it over the EntryPoint by state override, and the EntryPoint's
/// own code at ORIGINAL; whatever this contract does not answer runs there by delegatecall, on the
/// EntryPoint's storage and under its address. So creation, validation and postOp are the EntryPoint's
/// own, accounts and paymasters meet the EntryPoint they know, and this contract can look at the one
/// step that v0.6 does not report: the call of the account in innerHandleOp.
contract Probe06 {
    /// Where the EntryPoint's code is placed: ASCII "purser entry point".
    address private constant ORIGINAL = address(bytes20(hex"000070757273657220656e74727920706f696e74"));
    bytes32 private constant STORE_SLOT = keccak256("purser.probe");
    /// With this innerHandleOp tells the EntryPoint that gas cannot hold the limits (AA95).
    bytes32 private constant OUT_OF_GAS = hex"deaddead";
    /// As much return data as the EntryPoint itself reports.
    uint256 private constant MAX_RETURN_DATA = 2048;
    /// Gas that the frames around a trial may use beside what they pass on.
    uint256 private constant FRAME_GAS = 100_000;
    /// Gas of CALL itself to a warm address.
    uint256 private constant CALL_GAS = 100;

    /// The call of the operation, or its paymaster's postOp, reverts under an ample limit.
    error CallReverted(bytes revertData);
    error PostOpReverted(bytes revertData);
    /// The node grants eth_call too little gas to run the operation.
    error OutOfGas();

    struct Store {
        /// innerHandleOp does nothing; the target call that follows it measures instead.
        bool measuring;
        bool success;
        bytes returnData;
    }

    fallback() external payable {
        _forward();
    }

    receive() external payable {
        _forward();
    }

    /// @notice Rehearses the call of the operation and takes it back to learn how it ends, then lets
    /// the EntryPoint do its work.
    function innerHandleOp(bytes calldata callData, OperationInfo calldata info, bytes calldata)
        external
        returns (uint256)
    {
        Store storage store = _store();
        if (store.measuring) return 0;
        if (callData.length == 0) {
            store.success = true;
        } else {
            uint256 limit = info.fields.callGasLimit;
            if (!_affordable(limit)) {
                bytes32 outOfGas = OUT_OF_GAS;
                assembly {
                    mstore(0, outOfGas)
                    revert(0, 32)
                }
            }
            bytes memory answer = _run(_callTrial(info.fields.sender, callData), limit);
            (store.success,, store.returnData) = abi.decode(answer, (bool, uint256, bytes));
        }
        _forward();
    }

    /// @notice How the call of the operation ended: the target call of simulateHandleOp. False without
    /// data also when postOp reverted and took the call back.
    function outcome() external view returns (bool success, bytes memory returnData) {
        Store storage store = _store();
        return (store.success, store.returnData);
    }

    /// @notice The smallest gas limits under which `op` does what it does under ample ones
    /// (`maxCall`, `maxVerification`). `known` is what an earlier, incomplete measurement found out
    /// about the call. Reverts as the EntryPoint does when the operation is not valid, with CallReverted
    /// or PostOpReverted when it does not execute.
    function measure(UserOperation memory op, uint256 maxCall, uint256 maxVerification, Bracket memory known)
        external
        returns (Measurement memory result)
    {
        _store().measuring = true;
        op.callGasLimit = maxCall;
        op.verificationGasLimit = maxVerification;
        result.call = known;
        bool narrow = op.callData.length == 0;
        if (!narrow) {
            bytes memory search = abi.encodeCall(this.measureCall, (op.sender, op.callData, maxCall, known));
            (result.call, narrow) = abi.decode(_simulateThen(op, search), (Bracket, bool));
            if (!narrow) return result;
        }
        op.callGasLimit = result.call.ceiling;

        ReturnInfo memory info;
        (result.verification, narrow, info) = _measureVerification(op, maxVerification);
        result.validAfter = info.validAfter;
        result.validUntil = info.validUntil;
        if (narrow && info.paymasterContext.length > 0) {
            uint256 cost = (info.preOpGas + result.call.used) * op.maxFeePerGas;
            bytes memory search = abi.encodeCall(
                this.measurePostOp,
                (
                    op.sender,
                    op.callData,
                    op.callGasLimit,
                    address(bytes20(op.paymasterAndData)),
                    abi.encodeCall(IEntryPoint06.postOp, (0, info.paymasterContext, cost)),
                    maxVerification
                )
            );
            op.verificationGasLimit = maxVerification;
            (result.postOp, narrow) = abi.decode(_simulateThen(op, search), (Bracket, bool));
        }
        result.complete = narrow;
    }

    /// @notice Target call of simulateHandleOp, instead of the call of the operation.
    function measureCall(address sender, bytes calldata callData, uint256 ample, Bracket memory known)
        external
        returns (Bracket memory bracket, bool narrow)
    {
        Trial memory trial = _callTrial(sender, callData);
        bracket = known;
        if (known.ceiling == 0) {
            bytes memory answer;
            (bracket, answer) = _begin(trial, ample);
            if (bracket.ceiling == 0) revert CallReverted(_returnedIn(answer));
        }
        narrow = _narrow(trial, bracket);
    }

    /// @notice Target call of simulateHandleOp: makes the call, then measures postOp on its state.
    function measurePostOp(
        address sender,
        bytes calldata callData,
        uint256 callGasLimit,
        address paymaster,
        bytes calldata postOp,
        uint256 ample
    ) external returns (Bracket memory bracket, bool narrow) {
        if (callData.length > 0) {
            (bool success,) = sender.call{gas: callGasLimit}(callData);
            if (!success) revert OutOfGas();
        }
        Trial memory trial = _callTrial(paymaster, postOp);
        bytes memory answer;
        (bracket, answer) = _begin(trial, ample);
        if (bracket.ceiling == 0) revert PostOpReverted(_returnedIn(answer));
        narrow = _narrow(trial, bracket);
    }

    /// @notice Calls `target` as the EntryPoint and reverts with abi.encode(success, gas used, what it
    /// returned).
    function attempt(address target, uint256 gasLimit, bytes memory data) external {
        bool success;
        uint256 used;
        assembly {
            used := gas()
            success := call(gasLimit, target, 0, add(data, 32), mload(data), 0, 0)
            used := sub(used, gas())
        }
        bytes memory returned;
        assembly {
            let length := returndatasize()
            if gt(length, MAX_RETURN_DATA) { length := MAX_RETURN_DATA }
            returned := mload(0x40)
            mstore(0x40, add(returned, add(32, and(add(length, 31), not(31)))))
            mstore(returned, length)
            returndatacopy(add(returned, 32), 0, length)
        }
        _revertWith(abi.encode(success, used, returned));
    }

    /// The ample run comes first. A second run with a sixteenth more than that used stands for what an
    /// account does under realistic limits: whether it must pay a prefund depends on the limits.
    function _measureVerification(UserOperation memory op, uint256 ample)
        private
        returns (Bracket memory bracket, bool narrow, ReturnInfo memory info)
    {
        Trial memory trial = Trial({
            data: abi.encodeCall(IEntryPoint06.simulateValidation, (op)),
            limitAt: 4 + 32 + 5 * 32,
            base: op.preVerificationGas,
            read: _readValidation
        });
        bytes memory answer;
        (bracket, answer) = _begin(trial, ample);
        if (bracket.ceiling == 0) _revertWith(answer);
        info = abi.decode(_arguments(answer), (ReturnInfo));

        uint256 realistic = bracket.used + bracket.used / 16 + 4096;
        if (!_affordable(realistic)) return (bracket, false, info);
        (Bracket memory closer,) = _begin(trial, realistic);
        if (closer.ceiling != 0) bracket = closer;
        narrow = _narrow(trial, bracket);
    }

    function _callTrial(address target, bytes calldata data) private view returns (Trial memory) {
        return Trial({
            data: abi.encodeCall(this.attempt, (target, 0, data)),
            limitAt: 4 + 32,
            base: CALL_GAS,
            read: _readAttempt
        });
    }

    /// One trial with `ample` gas. No ceiling when it fails.
    function _begin(Trial memory trial, uint256 ample)
        private
        returns (Bracket memory bracket, bytes memory answer)
    {
        answer = _run(trial, ample);
        (bool success, uint256 used) = trial.read(answer);
        if (!success) return (bracket, answer);
        used -= trial.base;
        bracket = Bracket({floor: used - 1, ceiling: ample, used: used});
    }

    /// Narrows `bracket` to a 64th of the gas used; false when gas does not last. Limits are tried from
    /// the gas used upwards, in growing steps until one does, then by bisection. A limit does when the
    /// trial succeeds and uses what it uses under an ample limit: a trial that uses less has swallowed
    /// an inner call that ran out of gas.
    function _narrow(Trial memory trial, Bracket memory bracket) private returns (bool) {
        uint256 used = bracket.used;
        uint256 tolerance = used / 64 + 64;
        bool bisecting = bracket.ceiling - bracket.floor <= used / 8;
        while (bracket.ceiling - bracket.floor > tolerance) {
            uint256 limit = (bracket.floor + bracket.ceiling) / 2;
            if (bracket.floor < used) {
                limit = used;
            } else if (!bisecting) {
                uint256 step = used + 2 * (bracket.floor - used) + tolerance;
                if (step < limit) limit = step;
            }
            if (!_affordable(limit)) return false;
            (bool success, uint256 usedNow) = trial.read(_run(trial, limit));
            if (success && usedNow - trial.base >= used) {
                bracket.ceiling = limit;
                bisecting = true;
            } else {
                bracket.floor = limit;
            }
        }
        return true;
    }

    function _run(Trial memory trial, uint256 limit) private returns (bytes memory answer) {
        bytes memory data = trial.data;
        uint256 limitAt = trial.limitAt;
        assembly {
            mstore(add(add(data, 32), limitAt), limit)
        }
        (, answer) = address(this).call(data);
    }

    function _readAttempt(bytes memory answer) private pure returns (bool success, uint256 used) {
        if (answer.length < 64) revert OutOfGas();
        (success, used) = abi.decode(answer, (bool, uint256));
    }

    function _readValidation(bytes memory answer) private pure returns (bool success, uint256 used) {
        bytes4 selector = bytes4(answer);
        if (
            selector != IEntryPoint06.ValidationResult.selector
                && selector != IEntryPoint06.ValidationResultWithAggregation.selector
        ) return (false, 0);
        return (true, abi.decode(_arguments(answer), (ReturnInfo)).preOpGas);
    }

    function _returnedIn(bytes memory answer) private pure returns (bytes memory returned) {
        (,, returned) = abi.decode(answer, (bool, uint256, bytes));
    }

    /// What the target call `search` returns after creation and validation of `op`.
    function _simulateThen(UserOperation memory op, bytes memory search) private returns (bytes memory) {
        (, bytes memory answer) =
            address(this).call(abi.encodeCall(IEntryPoint06.simulateHandleOp, (op, address(this), search)));
        if (bytes4(answer) != IEntryPoint06.ExecutionResult.selector) _revertWith(answer);
        (,,,, bool success, bytes memory result) =
            abi.decode(_arguments(answer), (uint256, uint256, uint48, uint48, bool, bytes));
        if (!success) {
            if (result.length == 0) revert OutOfGas();
            _revertWith(result);
        }
        return result;
    }

    /// Can this frame give a trial `limit` gas through two more frames (EIP-150)?
    function _affordable(uint256 limit) private view returns (bool) {
        return gasleft() > limit + limit / 31 + FRAME_GAS;
    }

    /// A copy of `encoded` without its selector.
    function _arguments(bytes memory encoded) private pure returns (bytes memory arguments) {
        uint256 length = encoded.length - 4;
        arguments = new bytes(length);
        assembly {
            for { let i := 32 } lt(i, add(length, 32)) { i := add(i, 32) } {
                mstore(add(arguments, i), mload(add(add(encoded, 4), i)))
            }
        }
    }

    function _store() private pure returns (Store storage store) {
        bytes32 slot = STORE_SLOT;
        assembly {
            store.slot := slot
        }
    }

    function _revertWith(bytes memory data) private pure {
        assembly {
            revert(add(data, 32), mload(data))
        }
    }

    function _forward() private {
        address original = ORIGINAL;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let success := delegatecall(gas(), original, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(success) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
