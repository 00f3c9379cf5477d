import { createTestClient, getAddress, http } from 'viem'
import { foundry } from 'viem/chains'
import { compileSolidity } from './compileSolidity.js'

/**
 * Nexus, the account of the newer Biconomy SDKs, is on npm under no name. These stand in for it, with
 * the outside that the SDKs see: the factories' functions, ERC-7579 execute, and the owner's EIP-191
 * signature of the userOpHash. Modules, hooks and registries are not there.
 */
const contracts = compileSolidity(`
struct PackedUserOperation {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    bytes32 accountGasLimits;
    uint256 preVerificationGas;
    bytes32 gasFees;
    bytes paymasterAndData;
    bytes signature;
}

struct Execution {
    address target;
    uint256 value;
    bytes callData;
}

address constant ENTRY_POINT = 0x0000000071727De22E5E9d8BAf0edAc6f37da032;

contract Account {
    address immutable owner;

    constructor(address owner_) { owner = owner_; }

    receive() external payable {}

    function accountId() external pure returns (string memory) { return "stand-in.nexus.1.2.1"; }

    modifier onlyEntryPoint() {
        require(msg.sender == ENTRY_POINT, "not the EntryPoint");
        _;
    }

    function validateUserOp(PackedUserOperation calldata op, bytes32 userOpHash, uint256 missing)
        external onlyEntryPoint returns (uint256)
    {
        bytes32 digest = keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32", userOpHash));
        bytes calldata proof = op.signature;
        address signer = ecrecover(
            digest, uint8(proof[64]), bytes32(proof[0:32]), bytes32(proof[32:64])
        );
        if (missing > 0) {
            (bool paid,) = ENTRY_POINT.call{value: missing}("");
            paid;
        }
        return signer == owner ? 0 : 1;
    }

    function execute(bytes32 mode, bytes calldata call) external payable onlyEntryPoint {
        if (mode[0] == 0x00) {
            run(address(bytes20(call[0:20])), uint256(bytes32(call[20:52])), call[52:]);
            return;
        }
        Execution[] memory batch = abi.decode(call, (Execution[]));
        for (uint256 i = 0; i < batch.length; i++) {
            run(batch[i].target, batch[i].value, batch[i].callData);
        }
    }

    function run(address target, uint256 value, bytes memory data) private {
        (bool success, bytes memory answer) = target.call{value: value}(data);
        if (!success) assembly { revert(add(answer, 32), mload(answer)) }
    }
}

abstract contract Maker {
    function create(address owner, bytes32 salt) internal returns (address) {
        address account = addressOf(owner, salt);
        if (account.code.length == 0) new Account{salt: salt}(owner);
        return account;
    }

    function addressOf(address owner, bytes32 salt) internal view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Account).creationCode, abi.encode(owner)));
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", address(this), salt, code));
        return address(uint160(uint256(hash)));
    }
}

contract OwnerFactory is Maker {
    function createAccount(address owner, uint256 index, address[] calldata, uint8)
        external returns (address)
    {
        return create(owner, bytes32(index));
    }
    function computeAccountAddress(address owner, uint256 index, address[] calldata, uint8)
        external view returns (address)
    {
        return addressOf(owner, bytes32(index));
    }
}

contract InitDataFactory is Maker {
    function createAccount(bytes calldata initData, bytes32 salt) external returns (address) {
        return create(address(bytes20(initData)), salt);
    }
    function computeAccountAddress(bytes calldata initData, bytes32 salt)
        external view returns (address)
    {
        return addressOf(address(bytes20(initData)), salt);
    }
}
`)

/** Where the SDKs expect what. */
export type NexusAddresses = {
  /** Makes an account for an owner (@biconomy/sdk). */
  readonly ownerFactory: string
  /** Makes an account from init data, of which the stand-in reads the owner (@biconomy/abstractjs). */
  readonly initDataFactory: string
  readonly implementation: string
}

export async function placeNexusContracts(
  rpcUrl: string,
  addresses: NexusAddresses,
): Promise<void> {
  const client = createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl) })
  const place = (address: string, name: 'OwnerFactory' | 'InitDataFactory' | 'Account') =>
    client.setCode({ address: getAddress(address), bytecode: contracts[name]!.runtime })
  await place(addresses.ownerFactory, 'OwnerFactory')
  await place(addresses.initDataFactory, 'InitDataFactory')
  await place(addresses.implementation, 'Account')
}
