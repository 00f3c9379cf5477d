import { type Address, encodeAbiParameters, encodeFunctionData, type Hex, stringToHex } from 'viem'
import { compileSolidity } from '../chain/compileSolidity.js'

/**
 * A contract that can be account, factory and paymaster of every EntryPoint version and that does
 * one thing when it is asked to: what its script says, itself, in another actor that it calls, or by
 * another actor's code that it delegates to.
 */
export const actor = compileSolidity(
  `
struct Operation06 {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    uint256 callGasLimit;
    uint256 verificationGasLimit;
    uint256 preVerificationGas;
    uint256 maxFeePerGas;
    uint256 maxPriorityFeePerGas;
    bytes paymasterAndData;
    bytes signature;
}

struct Operation07 {
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

struct Script {
    bytes32 how;
    address via;
    bytes32 what;
    address subject;
    uint256 value;
    uint256 gasLimit;
    bytes data;
}

interface Depositor {
    function depositTo(address account) external payable;
}

contract Actor {
    constructor(bytes memory script) payable {
        if (script.length > 0) act(script);
    }

    receive() external payable {}

    function validateUserOp(Operation06 calldata op, bytes32, uint256) external returns (uint256) {
        act(op.signature);
        return 0;
    }

    function validateUserOp(Operation07 calldata op, bytes32, uint256) external returns (uint256) {
        act(op.signature);
        return 0;
    }

    function validatePaymasterUserOp(Operation06 calldata op, bytes32, uint256)
        external
        returns (bytes memory, uint256)
    {
        return (pay(op.paymasterAndData[20:]), 0);
    }

    function validatePaymasterUserOp(Operation07 calldata op, bytes32, uint256)
        external
        returns (bytes memory, uint256)
    {
        return (pay(op.paymasterAndData[52:]), 0);
    }

    function pay(bytes memory script) private returns (bytes memory) {
        if (script.length == 0) return "";
        Script memory s = abi.decode(script, (Script));
        if (s.what == "CONTEXT") return new bytes(s.value);
        act(script);
        return "";
    }

    fallback() external payable {}

    /// Creates the sender from initcode; runs the script before it or after.
    function make(bytes32 how, address via, bytes calldata initcode, bytes calldata script, bool before)
        external
        returns (address made)
    {
        if (before) act(script);
        made = how == "VIA" ? Actor(payable(via)).deploy(initcode) : how == "CREATE"
            ? byNonce(initcode)
            : deploy(initcode);
        if (!before) act(script);
    }

    function deploy(bytes memory initcode) public returns (address made) {
        assembly { made := create2(0, add(initcode, 32), mload(initcode), 0) }
    }

    function byNonce(bytes memory initcode) private returns (address made) {
        assembly { made := create(0, add(initcode, 32), mload(initcode)) }
    }

    function act(bytes memory script) public {
        if (script.length == 0) return;
        Script memory s = abi.decode(script, (Script));
        if (s.how == "SELF") return log(perform(s));
        bytes32 how = s.how;
        s.how = "SELF";
        bytes memory data = abi.encodeCall(this.act, (abi.encode(s)));
        (bool ok,) = how == "CALL" ? s.via.call(data) : s.via.delegatecall(data);
        require(ok, "via failed");
    }

    function log(uint256 seen) private {
        assembly {
            mstore(0, seen)
            log0(0, 32)
        }
    }

    function perform(Script memory s) private returns (uint256 r) {
        (bytes32 what, address subject, uint256 value, uint256 limit) = (s.what, s.subject, s.value, s.gasLimit);
        bytes memory data = s.data;
        if (what == "ORIGIN") assembly { r := origin() }
        else if (what == "GASPRICE") assembly { r := gasprice() }
        else if (what == "BLOCKHASH") assembly { r := blockhash(1) }
        else if (what == "COINBASE") assembly { r := coinbase() }
        else if (what == "TIMESTAMP") assembly { r := timestamp() }
        else if (what == "NUMBER") assembly { r := number() }
        else if (what == "DIFFICULTY") assembly { r := prevrandao() }
        else if (what == "GASLIMIT") assembly { r := gaslimit() }
        else if (what == "BASEFEE") assembly { r := basefee() }
        else if (what == "BLOBHASH") assembly { r := blobhash(0) }
        else if (what == "BLOBBASEFEE") assembly { r := blobbasefee() }
        else if (what == "CHAINID") assembly { r := chainid() }
        else if (what == "GAS") assembly { r := gas() }
        else if (what == "BALANCE") assembly { r := balance(subject) }
        else if (what == "SELFBALANCE") assembly { r := selfbalance() }
        else if (what == "CREATE") assembly { r := create(0, 0, 0) }
        else if (what == "CREATE2") assembly { r := create2(0, 0, 0, value) }
        else if (what == "EXTCODESIZE") assembly { r := extcodesize(subject) }
        else if (what == "EXTCODEHASH") assembly { r := extcodehash(subject) }
        else if (what == "EXTCODECOPY") assembly { extcodecopy(subject, 0, 0, 2) r := mload(0) }
        else if (what == "DEPOSIT") Depositor(subject).depositTo{value: value}(address(this));
        else if (what == "CALL" && limit == 0) {
            assembly { r := call(gas(), subject, value, add(data, 32), mload(data), 0, 0) }
        }
        else if (what == "CALL") assembly { r := call(limit, subject, value, add(data, 32), mload(data), 0, 0) }
        else if (what == "CALLCODE") assembly { r := callcode(gas(), subject, value, add(data, 32), mload(data), 0, 0) }
        else if (what == "DELEGATECALL") assembly { r := delegatecall(gas(), subject, add(data, 32), mload(data), 0, 0) }
        else if (what == "STATICCALL") assembly { r := staticcall(gas(), subject, add(data, 32), mload(data), 0, 0) }
        else if (what == "SLOAD") assembly { r := sload(value) }
        else if (what == "SSTORE") assembly { sstore(value, 1) }
        else if (what == "TLOAD") assembly { r := tload(value) }
        else if (what == "TSTORE") assembly { tstore(value, 1) }
        else if (what == "SLOAD OF") { uint256 at = slotOf(subject, value); assembly { r := sload(at) } }
        else if (what == "SSTORE OF") { uint256 at = slotOf(subject, value); assembly { sstore(at, 1) } }
        else if (what == "TLOAD OF") { uint256 at = slotOf(subject, value); assembly { r := tload(at) } }
        else if (what == "TSTORE OF") { uint256 at = slotOf(subject, value); assembly { tstore(at, 1) } }
        else if (what == "LOOP") while (true) r++;
        else revert("unknown act");
    }

    /// A member of the value of \`owner\` in a mapping by address.
    function slotOf(address owner, uint256 member) private pure returns (uint256) {
        unchecked {
            return uint256(keccak256(abi.encode(owner, uint256(7)))) + member;
        }
    }
}
`,
  'cancun',
).Actor!

/** An action of an actor. */
export type Act = {
  readonly what: string
  /** Itself (SELF), in another actor (CALL), or by that actor's code (DELEGATECALL). */
  readonly how?: 'SELF' | 'CALL' | 'DELEGATECALL'
  /** The other actor. */
  readonly via?: Address
  readonly subject?: Address
  readonly value?: bigint
  /** Gas of CALL; 0 = all. */
  readonly gas?: bigint
  readonly data?: Hex
}

const NOBODY: Address = `0x${'00'.repeat(20)}`

const scriptType = {
  type: 'tuple',
  components: [
    { name: 'how', type: 'bytes32' },
    { name: 'via', type: 'address' },
    { name: 'what', type: 'bytes32' },
    { name: 'subject', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'gasLimit', type: 'uint256' },
    { name: 'data', type: 'bytes' },
  ],
} as const

function word(text: string): Hex {
  return stringToHex(text, { size: 32 })
}

/** `act` as an actor reads it from a signature, paymaster data or constructor argument. */
export function script(act: Act | undefined): Hex {
  if (act === undefined) return '0x'
  const { what, how = 'SELF', via = NOBODY, subject = NOBODY, value = 0n, gas = 0n } = act
  const fields = { how: word(how), via, what: word(what), subject, value, gasLimit: gas }
  return encodeAbiParameters([scriptType], [{ ...fields, data: act.data ?? '0x' }])
}

/** Calldata that makes an actor perform `act` for any caller. */
export function actCall(act: Act): Hex {
  return encodeFunctionData({ abi: actor.abi, functionName: 'act', args: [script(act)] })
}

/** Initcode of an actor that performs `act` in its constructor. */
export function actorInitcode(act?: Act): Hex {
  const argument = encodeAbiParameters([{ type: 'bytes' }], [script(act)])
  return `${actor.bytecode}${argument.slice(2)}`
}

/** Calldata that makes an actor create from `initcode` by CREATE2. */
export function deployCall(initcode: Hex): Hex {
  return encodeFunctionData({ abi: actor.abi, functionName: 'deploy', args: [initcode] })
}

export type Making = {
  readonly initcode: Hex
  /** CREATE2 by the factory (default), by `via`, or CREATE by the factory. */
  readonly how?: 'CREATE2' | 'VIA' | 'CREATE'
  readonly via?: Address
  readonly act?: Act | undefined
  readonly before?: boolean
}

/** Factory data by which an actor creates the sender and performs `act`. */
export function makeCall({ initcode, how = 'CREATE2', via = NOBODY, act, before = false }: Making) {
  const args = [word(how), via, initcode, script(act), before]
  return encodeFunctionData({ abi: actor.abi, functionName: 'make', args })
}
