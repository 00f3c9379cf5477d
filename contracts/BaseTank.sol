// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// The part of the EntryPoint's stake manager that a tank uses; the same in every version.
interface IDepositKeeper {
    function depositTo(address account) external payable;
    function withdrawTo(address payable to, uint256 amount) external;
}

/// @title What the tanks of all EntryPoint versions share
/// @notice A tank is the paymaster of one app. Its deposit in the EntryPoint is the app's gas tank:
/// the EntryPoint charges and refunds it exactly, so the tank keeps no books and has no storage.
/// @dev Runs behind an ERC-1167 clone made by TankFactory. The clone's code ends in four addresses
/// that never change: entryPoint | owner | signerA | signerB. Reading them from code and not from
/// storage lets the tank work without a stake (ERC-7562 STO-031), as does its empty context
/// (EREP-050). The implementation itself is no tank: called directly, it would read its own code.
///
/// Signatures are EIP-712 and not EIP-191 ("personal_sign"): the domain names chain and tank, the
/// type string names every field, so a signature can mean nothing else, and a key held by a
/// hardware module or a custodian can show what it signs.
abstract contract BaseTank {
    /// The ERC-1167 code is 45 bytes long; the arguments follow it.
    uint256 private constant ARGUMENTS_OFFSET = 0x2d;

    /// secp256k1n / 2: a larger s is the same signature written a second way (EIP-2).
    uint256 private constant MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// paymasterData = validUntil(6) | validAfter(6) | r(32) | s(32) | v(1)
    uint256 internal constant DATA_LENGTH = 77;

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant NAME_HASH = keccak256("Purser Tank");
    bytes32 private constant VERSION_HASH = keccak256("1");

    /// @notice The EntryPoint that may call this tank and that holds its deposit.
    function entryPoint() public view returns (address entryPoint_) {
        (entryPoint_,,,) = _arguments();
    }

    /// @notice Who may withdraw.
    function owner() public view returns (address owner_) {
        (, owner_,,) = _arguments();
    }

    /// @notice Whose signatures sponsor operations; the zero address is an empty slot.
    function signers() public view returns (address signerA, address signerB) {
        (,, signerA, signerB) = _arguments();
    }

    /// @notice Moves everything the tank holds into its EntryPoint deposit. Anyone may call it: ether
    /// sent to the address before the clone existed is not lost.
    function deposit() public payable {
        IDepositKeeper(entryPoint()).depositTo{value: address(this).balance}(address(this));
    }

    receive() external payable {
        deposit();
    }

    /// @notice Withdraws `amount` wei of the deposit to `to`. Owner only.
    function withdrawTo(address payable to, uint256 amount) external {
        (address entryPoint_, address owner_,,) = _arguments();
        require(msg.sender == owner_, "Tank: only the owner");
        IDepositKeeper(entryPoint_).withdrawTo(to, amount);
    }

    /// @dev The validationData of ERC-4337 for `data` (validUntil | validAfter | signature) over a
    /// struct hash: authorizer 0 when a signer signed it and 1 when not, with the time range in
    /// both cases, so that a simulation with a dummy signature still learns the range.
    function _judge(bytes32 structHash, bytes calldata data) internal view returns (uint256) {
        (uint48 validUntil, uint48 validAfter) = _times(data);
        address recovered = _recover(_digest(structHash), data[12:DATA_LENGTH]);
        (,, address signerA, address signerB) = _arguments();
        bool signed = recovered != address(0) && (recovered == signerA || recovered == signerB);
        return (signed ? 0 : 1) | uint256(validUntil) << 160 | uint256(validAfter) << 208;
    }

    function _times(bytes calldata data) internal pure returns (uint48 validUntil, uint48 validAfter) {
        return (uint48(bytes6(data[0:6])), uint48(bytes6(data[6:12])));
    }

    function _requireEntryPoint() internal view {
        require(msg.sender == entryPoint(), "Tank: only the EntryPoint");
    }

    function _digest(bytes32 structHash) internal view returns (bytes32) {
        bytes32 domain =
            keccak256(abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this)));
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    /// @dev The zero address when the signature is no valid one.
    function _recover(bytes32 digest, bytes calldata signature) private pure returns (address) {
        uint256 s = uint256(bytes32(signature[32:64]));
        if (s > MAX_S) return address(0);
        return ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(s));
    }

    function _arguments()
        private
        view
        returns (address entryPoint_, address owner_, address signerA, address signerB)
    {
        assembly ("memory-safe") {
            let free := mload(0x40)
            extcodecopy(address(), free, ARGUMENTS_OFFSET, 80)
            entryPoint_ := shr(96, mload(free))
            owner_ := shr(96, mload(add(free, 20)))
            signerA := shr(96, mload(add(free, 40)))
            signerB := shr(96, mload(add(free, 60)))
        }
    }
}
