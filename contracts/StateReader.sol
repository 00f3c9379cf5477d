// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @title Slots of the account in whose place it runs
/// @notice Never deployed: eth_call runs it in place of the code of an account. Each 32 bytes of input
/// name a slot; the output holds their values.
contract SlotReader {
    fallback() external {
        assembly {
            let size := calldatasize()
            for { let at := 0 } lt(at, size) { at := add(at, 32) } {
                mstore(at, sload(calldataload(at)))
            }
            return(0, size)
        }
    }
}

/// @title Balances, code hashes and slots of many accounts
/// @notice Never deployed either. The input is one part after the other: a word with the number of
/// slots above the 160 bits of the address, and the slots. The output is, for each part, the balance,
/// the hash of the code (EXTCODEHASH) and the slots' values. Accounts with slots must run as SlotReader,
/// whose hash is theirs then.
contract StateReader {
    fallback() external {
        assembly {
            let size := calldatasize()
            let out := 0
            for { let at := 0 } lt(at, size) {} {
                let part := calldataload(at)
                let account := and(part, 0xffffffffffffffffffffffffffffffffffffffff)
                let length := mul(shr(160, part), 32)
                at := add(at, 32)
                mstore(out, balance(account))
                mstore(add(out, 32), extcodehash(account))
                out := add(out, 64)
                if length {
                    calldatacopy(out, at, length)
                    if iszero(staticcall(gas(), account, out, length, out, length)) {
                        revert(0, 0)
                    }
                    if iszero(eq(returndatasize(), length)) { revert(0, 0) }
                    at := add(at, length)
                    out := add(out, length)
                }
            }
            return(0, out)
        }
    }
}
