// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @title Makes tanks at addresses known beforehand
/// @notice Anyone may create any tank. The address follows from every argument, so nobody can take
/// an address for another owner, other signers, another EntryPoint or another implementation.
contract TankFactory {
    event TankCreated(
        address indexed tank,
        address indexed owner,
        address indexed entryPoint,
        address implementation,
        address signerA,
        address signerB,
        bytes32 salt
    );

    /// Calls to an address without code succeed and do nothing: a tank on it would swallow ether.
    error NoCode(address account);
    /// Nobody could ever withdraw.
    error NoOwner();
    error CreationFailed();

    /// @notice Creates the tank, or returns it when it exists already: the second caller loses nothing.
    function create(
        address implementation,
        address entryPoint,
        address owner,
        address signerA,
        address signerB,
        bytes32 salt
    ) external returns (address tank) {
        if (implementation.code.length == 0) revert NoCode(implementation);
        if (entryPoint.code.length == 0) revert NoCode(entryPoint);
        if (owner == address(0)) revert NoOwner();

        bytes memory code = _creationCode(implementation, entryPoint, owner, signerA, signerB);
        tank = _addressOf(code, salt);
        if (tank.code.length > 0) return tank;

        address created;
        assembly ("memory-safe") {
            created := create2(0, add(code, 0x20), mload(code), salt)
        }
        if (created != tank) revert CreationFailed();
        emit TankCreated(tank, owner, entryPoint, implementation, signerA, signerB, salt);
    }

    /// @notice The address that `create` gives for the same arguments.
    function predict(
        address implementation,
        address entryPoint,
        address owner,
        address signerA,
        address signerB,
        bytes32 salt
    ) external view returns (address) {
        return _addressOf(_creationCode(implementation, entryPoint, owner, signerA, signerB), salt);
    }

    /// @dev Nine bytes that return the rest (0x7d = 125 bytes): an ERC-1167 proxy (45), then the
    /// arguments that BaseTank reads (80).
    function _creationCode(
        address implementation,
        address entryPoint,
        address owner,
        address signerA,
        address signerB
    ) private pure returns (bytes memory) {
        return abi.encodePacked(
            hex"607d3d8160093d39f3363d3d373d3d3d363d73",
            implementation,
            hex"5af43d82803e903d91602b57fd5bf3",
            entryPoint,
            owner,
            signerA,
            signerB
        );
    }

    function _addressOf(bytes memory code, bytes32 salt) private view returns (address) {
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", address(this), salt, keccak256(code)));
        return address(uint160(uint256(hash)));
    }
}
