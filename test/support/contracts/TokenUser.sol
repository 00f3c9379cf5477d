// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// Account of any EntryPoint version that does what a test asks of it and takes every signature.
contract TokenUser {
    struct Call {
        address to;
        bytes data;
    }

    /// What it does when a token tells it that tokens move (HookToken).
    Call private hook;
    bool private hookBurns;
    /// Gas that validation leaves of what it is given; 0: it uses only what it needs.
    uint256 public validationLeaves;

    error HookFailed();

    function setHook(Call calldata call_, bool burns) external {
        hook = call_;
        hookBurns = burns;
    }

    function setValidationLeaves(uint256 gas) external {
        validationLeaves = gas;
    }

    /// The calls, then until `leave` gas is left whatever costs gas (0: nothing), then a revert with
    /// `revertSize` bytes.
    function run(Call[] calldata calls, uint256 leave, uint256 revertSize) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool done, bytes memory answer) = calls[i].to.call(calls[i].data);
            if (!done) _revertWith(answer);
        }
        if (leave > 0) _burn(leave);
        if (revertSize > 0) _revertWith(new bytes(revertSize));
    }

    /// HookToken's, before tokens leave and after tokens came.
    function tokensMove() external {
        if (hookBurns) _burn(0);
        if (hook.to == address(0)) return;
        (bool done,) = hook.to.call(hook.data);
        if (!done) revert HookFailed();
    }

    /// validateUserOp of every version.
    fallback() external {
        if (validationLeaves > 0) _burn(validationLeaves);
        assembly {
            mstore(0, 0)
            return(0, 32)
        }
    }

    function _burn(uint256 leave) private view {
        while (gasleft() > leave) {}
    }

    function _revertWith(bytes memory data) private pure {
        assembly {
            revert(add(data, 32), mload(data))
        }
    }
}
