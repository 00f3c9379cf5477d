import type { Address } from 'viem'
import { compileSolidity } from '../../support/chain/compileSolidity.js'
import { compileSessionModules } from './biconomySources.js'
import { constructAt } from './constructAt.js'

/** Addresses that `@biconomy/account` hard-codes, but for the router, which is the one of `@biconomy/modules` 3.1.0. */
export const sessionModules = {
  SessionKeyManager: '0x000002FbFfedd9B33F4E7156F2DE8D48945E7489',
  BatchedSessionRouter: '0x000008dA71757C0E1D83CE56c823e25Aa49bC058',
  ERC20SessionValidationModule: '0x000000D50C68705bd6897B2d17c7de32FB519fDA',
} as const

/**
 * Allows a session key whatever it signs. Biconomy leaves it to each app what a session may do: this is the least that the
 * interface of such a module asks for.
 */
const { AnyCall } = compileSolidity(`
struct UserOperation {
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

contract AnyCall {
    function validateSessionParams(address, uint256, bytes calldata, bytes calldata key, bytes calldata)
        external
        pure
        returns (address)
    {
        return abi.decode(key, (address));
    }

    function validateSessionUserOp(
        UserOperation calldata,
        bytes32 hash,
        bytes calldata key,
        bytes calldata signature
    ) external pure returns (bool) {
        bytes32 signed = keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32", hash));
        (bytes32 r, bytes32 s) = abi.decode(signature, (bytes32, bytes32));
        return ecrecover(signed, uint8(signature[64]), r, s) == abi.decode(key, (address));
    }
}
`)

// While the file is loaded, which no time limit bounds: the first time on a machine it takes some ten seconds.
const compiled = compileSessionModules()

export const ANY_CALL: Address = '0x00000000000000000000000000000000000b1a42'

/** Puts Biconomy's modules for session keys on the chain, and one that allows a session any call. */
export async function placeSessionModules(rpcUrl: string): Promise<void> {
  for (const [name, address] of Object.entries(sessionModules))
    await constructAt(rpcUrl, address, compiled[name]!.bytecode)
  await constructAt(rpcUrl, ANY_CALL, AnyCall!.bytecode)
}
