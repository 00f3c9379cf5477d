// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// Account and paymaster of any EntryPoint version that does what a test asks of it: it takes every
/// signature, and can use up each of its gas limits and revert with long data.
contract Scripted {
    event UserOperationEvent(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed paymaster,
        uint256 nonce,
        bool success,
        uint256 actualGasCost,
        uint256 actualGasUsed
    );
    event UserOperationRevertReason(
        bytes32 indexed userOpHash,
        address indexed sender,
        uint256 nonce,
        bytes revertReason
    );
    event BeforeExecution();
    event Quiet();

    uint256 private constant REVERT_SIZE = 2048;

    /// Gas that validation leaves of what it is given; 0: it uses only what it needs.
    uint256 public validationLeaves;
    bool public postOpBurns;

    function configure(uint256 validationLeaves_, bool postOpBurns_) external {
        validationLeaves = validationLeaves_;
        postOpBurns = postOpBurns_;
    }

    function quiet() external {
        emit Quiet();
    }

    function fail(string calldata reason) external pure {
        revert(reason);
    }

    /// Uses all gas and reverts with 2,048 bytes, the first word being the gas at entry.
    function burnAndFail() external view {
        _burnAndFail(gasleft());
    }

    /// Says under its own address what only the EntryPoint may say.
    function spoof(bytes32 userOpHash, address paymaster) external {
        emit UserOperationRevertReason(userOpHash, address(this), 0, "spoofed");
        emit BeforeExecution();
        emit UserOperationEvent(userOpHash, address(this), paymaster, 0, true, 1, 1);
    }

    fallback() external payable {
        bytes4 selector = msg.sig;
        if (selector == 0x3a871cdd || selector == 0x19822f7c) {
            _burn(validationLeaves);
            _return(abi.encode(uint256(0)));
        }
        if (selector == 0xf465c77e || selector == 0x52b7512c) {
            _burn(validationLeaves);
            _return(abi.encode(abi.encode("context"), uint256(0)));
        }
        if (selector == 0xa9a23409 || selector == 0x7c627b21) {
            if (!postOpBurns) return;
            uint256 mode = abi.decode(msg.data[4:], (uint256));
            if (mode == 2) return _burn(2_000);
            _burnAndFail(gasleft());
        }
    }

    receive() external payable {}

    function _burn(uint256 leave) private view {
        if (leave == 0) return;
        while (gasleft() > leave) {}
    }

    function _burnAndFail(uint256 word) private view {
        _burn(2_000);
        assembly {
            mstore(0, word)
            revert(0, REVERT_SIZE)
        }
    }

    function _return(bytes memory data) private pure {
        assembly {
            return(add(data, 32), mload(data))
        }
    }
}
