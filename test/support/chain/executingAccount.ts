import { type Address, concatHex, encodeAbiParameters, type Hex, padHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type AccountCall, keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { VersionChain } from '../world/versionChain.js'
import { compileSolidity } from './compileSolidity.js'

/**
 * An account of EntryPoint v0.7 and later that is called with the whole operation (IAccountExecute). It
 * calls what the operation's callData says behind the selector of executeUserOp, as often as it says.
 */
const compiled = compileSolidity(`
struct PackedUserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits;
    uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature;
}

contract ExecutingAccount {
    address immutable entryPoint;
    address immutable owner;
    bytes32 public lastHash;

    constructor(address entryPoint_, address owner_) { (entryPoint, owner) = (entryPoint_, owner_); }

    function validateUserOp(PackedUserOperation calldata op, bytes32 hash, uint256 missing)
        external returns (uint256)
    {
        require(msg.sender == entryPoint, "not the EntryPoint");
        if (missing > 0) { (bool paid,) = msg.sender.call{value: missing}(""); paid; }
        bytes calldata s = op.signature;
        return owner == ecrecover(hash, uint8(s[64]), bytes32(s[0:32]), bytes32(s[32:64])) ? 0 : 1;
    }
    function executeUserOp(PackedUserOperation calldata op, bytes32 hash) external {
        require(msg.sender == entryPoint, "not the EntryPoint");
        lastHash = hash;
        (address to, bytes memory data) = abi.decode(op.callData[4:], (address, bytes));
        (bool done,) = to.call(data);
        require(done, "the call failed");
    }
    receive() external payable {}
}
`).ExecutingAccount

const selector: Hex = '0x8dd7712f'

/** A funded account of the owner that `seed` makes, and its unsigned operation with `call`. */
export async function executingDraft(
  chain: VersionChain,
  seed: string,
  { to, data = '0x' }: AccountCall,
  nonce = 0n,
): Promise<Operation> {
  if (!compiled) throw new Error('ExecutingAccount was not compiled')
  const owner = privateKeyToAccount(keyFromSeed(seed)).address
  const words = [chain.entryPoint.address, owner].map((each) => padHex(each, { size: 32 }))
  const sender: Address = await chain.deploy(concatHex([compiled.bytecode, ...words]))
  await chain.fund(sender)
  const call = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [to, data])
  return {
    ...(await chain.draft('deployed', `pattern of ${chain.version}`)),
    sender,
    nonce,
    callData: concatHex([selector, call]),
  }
}

/** As the account's owner signs: the hash itself, in every version. */
export async function signExecuting(
  chain: VersionChain,
  op: Operation,
  seed: string,
): Promise<Operation> {
  const owner = privateKeyToAccount(keyFromSeed(seed))
  return { ...op, signature: await owner.sign({ hash: chain.entryPoint.hash(op, chain.chainId) }) }
}
