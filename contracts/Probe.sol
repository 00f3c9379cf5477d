// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// One operation, as the calls that its EntryPoint makes.
struct Plan {
    /// handleOps with this operation alone.
    bytes handleOps;
    /// getUserOpHash. The hash is then written into the calls that take it, as their second argument.
    bytes hash;
    /// The call of the SenderCreator; empty = none. It is made for a sender without code, or always (EIP-7702).
    address creator;
    bytes creation;
    bool createsAlways;
    address sender;
    /// Its third argument is the part of `prefund` (wei) that the deposit in `depositSlot` does not cover.
    bytes validation;
    uint256 prefund;
    uint256 depositSlot;
    address paymaster;
    bytes sponsoring;
    /// The call of the account; empty = none.
    bytes execution;
    bool executionTakesHash;
    /// Whether more than the validation is run.
    bool executes;
    bytes4 postOp;
    uint256 preVerificationGas;
    /// wei per gas
    uint256 fee;
    uint256 verificationLimit;
    uint256 paymasterLimit;
    uint256 callLimit;
    uint256 postOpLimit;
}

/// A call that was made; `output` as far as the EntryPoint itself would report it.
struct Made {
    bool made;
    bool success;
    uint256 gasUsed;
    bytes output;
}

/// handleOps up to innerHandleOp; the last three from its input, 0 when it was not reached.
struct Handled {
    bool success;
    uint256 gasUsed;
    bytes output;
    uint256 preOpGas;
    uint256 prefund;
    uint256 contextSize;
}

/// @title What a node shows about an operation of any EntryPoint
/// @notice Never deployed. eth_call places it over the EntryPoint by state override, and the EntryPoint's
/// own code at ORIGINAL; whatever this contract does not answer runs there by delegatecall, on the
/// EntryPoint's storage and under its address. It runs handleOps up to innerHandleOp, by which the EntryPoint
/// itself says what validation used. An EntryPoint ends at a wrong signature and does not report how the account's
/// call ended. So the calls of account and paymaster are made once more, one by one, whatever the signature.
contract Probe {
    /// Where the EntryPoint's code is placed: ASCII "purser entry point".
    address private constant ORIGINAL = address(bytes20(hex"000070757273657220656e74727920706f696e74"));
    /// Holds the selector of innerHandleOp, then as bytes the positions in its input of prefund, preOpGas and the context's
    /// offset, each as 2 bytes; what was found there follows.
    uint256 private constant LAYOUT = 0x70757273657200;
    uint256 private constant PRE_OP_GAS = 0x70757273657201;
    uint256 private constant PREFUND = 0x70757273657202;
    uint256 private constant CONTEXT_SIZE = 0x70757273657203;
    /// As much return data as the EntryPoint itself reports of a call; more of a validation, which has a context.
    uint256 private constant MAX_RETURN_DATA = 2048;
    uint256 private constant MAX_VALIDATION_DATA = 70_000;

    /// The node grants eth_call too little gas to run the operation.
    error OutOfGas();

    fallback() external payable {
        if (msg.sender == address(this) && bytes4(bytes32(_load(LAYOUT))) == msg.sig) _note();
        else _forward();
    }

    receive() external payable {
        _forward();
    }

    /// @notice Runs `plan`. The calls come first and are undone: the EntryPoint wants to be called by an account without
    /// code, which this contract is not.
    function run(Plan calldata plan) external returns (Handled memory handled, Made[5] memory calls) {
        (, bytes memory answer) = address(this).call(abi.encodeCall(this.act, (plan)));
        if (answer.length < 32) revert OutOfGas();
        calls = abi.decode(answer, (Made[5]));

        uint256 before = gasleft();
        (handled.success, handled.output) = ORIGINAL.delegatecall(plan.handleOps);
        handled.gasUsed = before - gasleft();
        if (handled.success) {
            handled.preOpGas = _load(PRE_OP_GAS);
            handled.prefund = _load(PREFUND);
            handled.contextSize = _load(CONTEXT_SIZE);
        }
    }

    /// @notice Creates, validates, sponsors, calls and settles as long as all goes well, then reverts with what it made.
    function act(Plan calldata plan) external {
        Made[5] memory calls;
        _act(plan, calls);
        bytes memory answer = abi.encode(calls);
        assembly {
            revert(add(answer, 32), mload(answer))
        }
    }

    function _act(Plan calldata plan, Made[5] memory calls) private {
        uint256 before = gasleft();
        bytes32 hash = _hash(plan.hash);
        if (plan.creation.length > 0 && (plan.createsAlways || plan.sender.code.length == 0)) {
            calls[0] = _call(plan.creator, plan.verificationLimit, plan.creation, MAX_RETURN_DATA);
            if (!calls[0].success) return;
        }
        bytes memory data = _withWord(plan.validation, 36, uint256(hash));
        uint256 deposit = uint112(_load(plan.depositSlot));
        data = _withWord(data, 68, plan.prefund > deposit ? plan.prefund - deposit : 0);
        calls[1] = _call(plan.sender, plan.verificationLimit, data, MAX_RETURN_DATA);
        if (!calls[1].success) return;

        bytes memory context;
        if (plan.sponsoring.length > 0) {
            data = _withWord(plan.sponsoring, 36, uint256(hash));
            calls[2] = _call(plan.paymaster, plan.paymasterLimit, data, MAX_VALIDATION_DATA);
            if (!calls[2].success) return;
            context = _contextIn(calls[2].output);
        }
        if (!plan.executes) return;
        if (plan.execution.length > 0) {
            data = plan.executionTakesHash ? _withWord(plan.execution, 36, uint256(hash)) : plan.execution;
            calls[3] = _call(plan.sender, plan.callLimit, data, MAX_RETURN_DATA);
        }
        if (context.length > 0) {
            uint8 mode = calls[3].made && !calls[3].success ? 1 : 0;
            uint256 cost = (before - gasleft() + plan.preVerificationGas) * plan.fee;
            data = abi.encodeWithSelector(plan.postOp, mode, context, cost, plan.fee);
            calls[4] = _call(plan.paymaster, plan.postOpLimit, data, MAX_RETURN_DATA);
        }
    }

    function _call(address target, uint256 limit, bytes memory data, uint256 most) private returns (Made memory made) {
        // A caller keeps one part in 64 of its gas (EIP-150).
        uint256 granted = gasleft() - gasleft() / 64;
        bool success;
        uint256 used;
        bytes memory output;
        assembly {
            used := gas()
            success := call(limit, target, 0, add(data, 32), mload(data), 0, 0)
            used := sub(used, gas())
            let length := returndatasize()
            if gt(length, most) { length := most }
            output := mload(0x40)
            mstore(0x40, add(output, add(32, and(add(length, 31), not(31)))))
            mstore(output, length)
            returndatacopy(add(output, 32), 0, length)
        }
        // A call that used up what there was may have failed for lack of the rest.
        if (!success && granted < limit && used > granted - granted / 16) revert OutOfGas();
        return Made({made: true, success: success, gasUsed: used, output: output});
    }

    function _hash(bytes calldata data) private returns (bytes32 hash) {
        (bool success, bytes memory answer) = ORIGINAL.delegatecall(data);
        if (success && answer.length == 32) hash = bytes32(answer);
    }

    /// A copy of `data` with `word` at byte `at`.
    function _withWord(bytes memory data, uint256 at, uint256 word) private pure returns (bytes memory copy) {
        copy = bytes.concat(data);
        assembly {
            mstore(add(add(copy, 32), at), word)
        }
    }

    /// The context in what validatePaymasterUserOp returned; none where that is malformed, which handleOps refuses.
    function _contextIn(bytes memory output) private pure returns (bytes memory context) {
        if (output.length < 96) return context;
        (uint256 at,) = abi.decode(output, (uint256, uint256));
        if (at > output.length - 32) return context;
        uint256 length;
        assembly {
            length := mload(add(add(output, 32), at))
        }
        if (length > output.length - 32 - at) return context;
        context = new bytes(length);
        assembly {
            for { let i := 0 } lt(i, length) { i := add(i, 32) } {
                mstore(add(add(context, 32), i), mload(add(add(add(output, 64), at), i)))
            }
        }
    }

    /// Keeps what innerHandleOp was called with, and returns 0.
    function _note() private {
        uint256 layout = _load(LAYOUT);
        uint256 prefundAt = uint16(layout >> 208);
        uint256 preOpGasAt = uint16(layout >> 192);
        uint256 contextAt = uint16(layout >> 176);
        assembly {
            sstore(PRE_OP_GAS, calldataload(preOpGasAt))
            sstore(PREFUND, calldataload(prefundAt))
            sstore(CONTEXT_SIZE, calldataload(add(4, calldataload(contextAt))))
            mstore(0, 0)
            return(0, 32)
        }
    }

    function _load(uint256 slot) private view returns (uint256 word) {
        assembly {
            word := sload(slot)
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
