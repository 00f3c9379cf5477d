import { type Address, concatHex, encodeFunctionData, type Hex, padHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type AccountCall, keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { VersionChain } from '../world/versionChain.js'
import { compileSolidity } from './compileSolidity.js'

/**
 * A model of the accounts that look the signer up which they recover from the signature (Safe, thirdweb,
 * Etherspot), and that keep something under the operation's hash from validation to execution (Kernel 3).
 * A wrong signature costs less than a right one. For every EntryPoint version.
 */
const compiled = compileSolidity(`
struct UserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit;
    uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas;
    uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature;
}
struct PackedUserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits;
    uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature;
}

contract OwnersAccount {
    address immutable entryPoint;
    mapping(address => bool) public isOwner;
    mapping(bytes32 => uint256) public settings;
    mapping(address => uint256) public weights;

    constructor(address entryPoint_, address owner) {
        entryPoint = entryPoint_;
        isOwner[owner] = true;
    }

    function validateUserOp(UserOperation calldata op, bytes32 hash, uint256 missing)
        external returns (uint256)
    { return check(op.signature, hash, missing); }

    function validateUserOp(PackedUserOperation calldata op, bytes32 hash, uint256 missing)
        external returns (uint256)
    { return check(op.signature, hash, missing); }

    function check(bytes calldata s, bytes32 hash, uint256 missing) private returns (uint256) {
        require(msg.sender == entryPoint, "not the EntryPoint");
        if (missing > 0) { (bool paid,) = msg.sender.call{value: missing}(""); paid; }
        address signer = ecrecover(hash, uint8(s[64]), bytes32(s[0:32]), bytes32(s[32:64]));
        require(settings[hash] == 0, "used");
        if (!isOwner[signer]) return 1;
        return weights[signer] == 0 ? 0 : 1;
    }

    function execute(address to, bytes calldata data) external {
        require(msg.sender == entryPoint, "not the EntryPoint");
        (bool done,) = to.call(data);
        require(done, "the call failed");
    }
    receive() external payable {}
}
`).OwnersAccount

/** A funded account whose one owner `seed` makes, and its unsigned operation with `call`. */
export async function ownersDraft(
  chain: VersionChain,
  seed: string,
  { to, data = '0x' }: AccountCall,
): Promise<Operation> {
  if (!compiled) throw new Error('OwnersAccount was not compiled')
  const owner = privateKeyToAccount(keyFromSeed(seed)).address
  const words = [chain.entryPoint.address, owner].map((each) => padHex(each, { size: 32 }))
  const sender: Address = await chain.deploy(concatHex([compiled.bytecode, ...words]))
  await chain.fund(sender)
  return {
    ...(await chain.draft('deployed', `pattern of ${chain.version}`)),
    sender,
    nonce: 0n,
    callData: encodeFunctionData({ abi: compiled.abi, functionName: 'execute', args: [to, data] }),
    signature: DUMMY,
  }
}

/** Recovers to somebody. */
const DUMMY: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`
