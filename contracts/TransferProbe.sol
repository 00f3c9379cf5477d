// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @title What a transfer really moves
/// @notice Never deployed: eth_call runs it in place of the code of an account that holds the token.
/// Tokens that keep a part, or change balances by themselves, show here.
contract TransferProbe {
    function probe(address token, address to, uint256 amount)
        external
        returns (uint256 spent, uint256 received)
    {
        uint256 own = _balance(token, address(this));
        uint256 theirs = _balance(token, to);
        (bool success, bytes memory answer) =
            token.call(abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        require(success && (answer.length == 0 || abi.decode(answer, (bool))), "refused");
        spent = own - _balance(token, address(this));
        received = _balance(token, to) - theirs;
    }

    function _balance(address token, address holder) private view returns (uint256) {
        (, bytes memory answer) =
            token.staticcall(abi.encodeWithSignature("balanceOf(address)", holder));
        return abi.decode(answer, (uint256));
    }
}
