import type { Hex } from 'viem'
import { compileSolidity } from './compileSolidity.js'

/**
 * An account and paymaster of EntryPoint v0.6 that behaves as a test sets it: it takes every signature
 * but an empty one, and can refuse an operation after it was admitted.
 */
const compiled = compileSolidity(`
struct UserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit;
    uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas;
    uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature;
}

contract SettableAccount {
    event UserOperationEvent(
        bytes32 indexed userOpHash, address indexed sender, address indexed paymaster,
        uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed
    );
    event BeforeExecution();
    event Touched();

    address constant REFUSED = 0x5be4DE5be4dE5bE4de5Be4De5BE4DE5BE4de5be4;

    bool public refuses;
    bool public refusesOnChain;
    uint256 public validationData;

    function set(bool refuses_, bool refusesOnChain_, uint256 validationData_) external {
        (refuses, refusesOnChain, validationData) = (refuses_, refusesOnChain_, validationData_);
    }
    function touch() external { emit Touched(); }
    /** Does something to someone else, in its own name. */
    function poke(address other, bytes calldata data) external {
        (bool done,) = other.call(data);
        require(done);
    }
    function fail(string calldata reason) external pure { revert(reason); }
    /** Says what only the EntryPoint may say. */
    function spoof(bytes32 userOpHash) external {
        emit BeforeExecution();
        emit UserOperationEvent(userOpHash, address(this), address(0), 0, true, 1, 1);
    }
    function validateUserOp(UserOperation calldata op, bytes32, uint256 missing)
        external returns (uint256)
    {
        require(!refuses && !(refusesOnChain && block.coinbase == REFUSED), "not in the mood");
        if (missing > 0) { (bool paid,) = msg.sender.call{value: missing}(""); paid; }
        return op.signature.length == 0 ? 1 : validationData;
    }
    function validatePaymasterUserOp(UserOperation calldata, bytes32, uint256)
        external returns (bytes memory, uint256)
    {
        require(!refuses && !(refusesOnChain && block.coinbase == REFUSED), "not in the mood");
        return ("", validationData);
    }
    receive() external payable {}
}
`).SettableAccount

if (!compiled) throw new Error('SettableAccount was not compiled')

/** The block producer in whose blocks an account refuses that `refusesOnChain`. */
export const REFUSED = '0x5be4de5be4de5be4de5be4de5be4de5be4de5be4'

export const settableAccountCode: Hex = compiled.runtime
