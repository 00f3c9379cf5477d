/**
 * Solidity of a model of the ECDSA validators of Kernel and Nexus (ERC-7579), whose code no npm package
 * has: one owner per account, whose EIP-191 signature of the operation's hash is asked for.
 */
export const modelValidatorSource = `
struct PackedUserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits;
    uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature;
}

contract ModelValidator {
    mapping(address account => address) public owners;

    function onInstall(bytes calldata data) public payable virtual {
        owners[msg.sender] = address(bytes20(data[0:20]));
    }
    function onUninstall(bytes calldata) external payable { delete owners[msg.sender]; }
    function isModuleType(uint256 kind) external pure returns (bool) { return kind == 1; }
    function isInitialized(address account) external view returns (bool) {
        return owners[account] != address(0);
    }
    function validateUserOp(PackedUserOperation calldata op, bytes32 hash)
        external payable returns (uint256)
    {
        bytes32 digest = keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32", hash));
        bytes calldata s = op.signature;
        address signer = ecrecover(digest, uint8(s[64]), bytes32(s[0:32]), bytes32(s[32:64]));
        return isOwner(op.sender, signer) ? 0 : 1;
    }
    function isOwner(address account, address signer) internal view virtual returns (bool) {
        return signer == owners[account];
    }
}
`
