// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {TokenTank07} from "./TokenTank07.sol";

/// @title Token tank for EntryPoint v0.8 and v0.9
/// @notice As for v0.7, but for when call gas that was not used is charged.
contract TokenTank08 is TokenTank07 {
    /// @dev v0.8 charges it before postOp, so it is in the cost that postOp receives.
    function _penalty(uint256, uint256, uint256, uint256) internal pure override returns (uint256) {
        return 0;
    }
}
