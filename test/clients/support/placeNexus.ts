import { type Address, getAddress } from 'viem'
import { entryPoint07Address } from 'viem/account-abstraction'
import { compileSolidity } from '../../support/chain/compileSolidity.js'
import { constructAt } from './constructAt.js'
import { modulekitCode } from './creationCode.js'
import { modelValidatorSource } from './modelValidator.js'
import { placeRegistry, REGISTRY } from './placeRegistry.js'

/** Where clients expect Nexus 1.0.1. */
const IMPLEMENTATION: Address = '0x000000039dfcad030719b07296710f045f0558f7'
const BOOTSTRAP: Address = '0x00000008c901d8871b6f6942de0b5d9ccf3873d3'
const K1_FACTORY: Address = '0x00000bb19a3579F4D779215dEf97AFbd0e30DB55'
const K1_VALIDATOR: Address = '0x00000004171351c442B202678c48D8AB5B321E8f'

const models = (proxyCode: string) => `${modelValidatorSource}
contract ModelK1Validator is ModelValidator {
    /** As the real one: an owner must not be a contract. */
    function onInstall(bytes calldata data) public payable override {
        require(address(bytes20(data[0:20])).code.length == 0, "the owner is a contract");
        super.onInstall(data);
    }
}

struct BootstrapConfig { address module; bytes data; }
interface Bootstrap {
    function getInitNexusWithSingleValidatorCalldata(
        BootstrapConfig calldata validator, address registry, address[] calldata attesters,
        uint8 threshold
    ) external view returns (bytes memory);
}

contract ModelK1Factory {
    bytes constant PROXY = hex"${proxyCode}";

    function createAccount(
        address owner, uint256 index, address[] calldata attesters, uint8 threshold
    ) external payable returns (address account) {
        bytes memory code = creationCode(owner, attesters, threshold);
        account = addressOf(code, index);
        if (account.code.length > 0) return account;
        assembly { account := create2(callvalue(), add(code, 32), mload(code), index) }
        require(account != address(0), "not created");
    }
    function computeAccountAddress(
        address owner, uint256 index, address[] calldata attesters, uint8 threshold
    ) external view returns (address) {
        return addressOf(creationCode(owner, attesters, threshold), index);
    }
    function addressOf(bytes memory code, uint256 salt) private view returns (address) {
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", address(this), salt, keccak256(code)));
        return address(uint160(uint256(hash)));
    }
    function creationCode(address owner, address[] calldata attesters, uint8 threshold)
        private view returns (bytes memory)
    {
        bytes memory init = Bootstrap(${getAddress(BOOTSTRAP)}).getInitNexusWithSingleValidatorCalldata(
            BootstrapConfig(${getAddress(K1_VALIDATOR)}, abi.encodePacked(owner)), ${getAddress(REGISTRY)}, attesters,
            threshold
        );
        bytes memory call = abi.encodeWithSignature("initializeAccount(bytes)", init);
        return abi.encodePacked(PROXY, abi.encode(${getAddress(IMPLEMENTATION)}, call));
    }
}
`

/** Nexus 1.0.1, its proxy and its bootstrap; models of the K1 validator and its factory. */
export async function placeNexus(rpcUrl: string): Promise<void> {
  const code = (name: string) => modulekitCode('NexusPrecompiles', name)
  const proxyCode = code('NEXUS_PROXY_BYTECODE').slice(2)
  const { ModelK1Validator, ModelK1Factory } = compileSolidity(models(proxyCode))
  await placeRegistry(rpcUrl)
  await constructAt(rpcUrl, IMPLEMENTATION, code('NEXUS_BYTECODE'), [entryPoint07Address])
  await constructAt(rpcUrl, BOOTSTRAP, code('NEXUS_BOOTSTRAP_BYTECODE'))
  await constructAt(rpcUrl, K1_VALIDATOR, ModelK1Validator!.bytecode)
  await constructAt(rpcUrl, K1_FACTORY, ModelK1Factory!.bytecode)
}
