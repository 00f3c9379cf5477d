import { type Address, encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem'
import { devWallet } from '../../../src/cli/devnet/devWallet.js'
import { toInterfaceOperation } from '../../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { compileSolidity } from '../chain/compileSolidity.js'
import { settableAccountCode } from '../chain/settableAccount.js'
import { result } from '../http/jsonRpc.js'
import { devAccount } from '../service/devAccount.js'
import type { FailureWorld } from './failureWorld.js'

const abi = parseAbi([
  'function set(bool refuses, bool refusesOnChain, uint256 validationData)',
  'function touch()',
  'function fail(string reason)',
  'function depositTo(address account) payable',
])

/** An account of EntryPoint v0.6 whose validation reads a slot of another contract, which STO rules forbid. */
const peeking = compileSolidity(`
struct UserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit;
    uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas;
    uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature;
}
interface Settable { function validationData() external view returns (uint256); }
contract PeekingAccount {
    function validateUserOp(UserOperation calldata op, bytes32, uint256 missing) external returns (uint256) {
        if (missing > 0) { (bool paid,) = msg.sender.call{value: missing}(""); paid; }
        return Settable(abi.decode(op.signature, (address))).validationData();
    }
    receive() external payable {}
}
`).PeekingAccount

export const callData = {
  touch: encodeFunctionData({ abi, functionName: 'touch' }),
  fail: (reason: string) => encodeFunctionData({ abi, functionName: 'fail', args: [reason] }),
}

/** Contracts that behave badly on the chain of the world, and operations of theirs. */
export async function hostileParts({ info }: FailureWorld) {
  const { tester, client } = await devAccount(info, 'the tester')
  const wallet = await devWallet(info.rpcUrl)
  const entryPoint = info.entryPoints['0.6'] as Address
  let placed = 0

  const place = async (bytecode: Hex, value: bigint): Promise<Address> => {
    const address: Address = `0x${(0xfa11_0000 + ++placed).toString(16).padStart(40, '0')}`
    await tester.setCode({ address, bytecode })
    await tester.setBalance({ address, value })
    return address
  }
  const transact = async (to: Address, data: Hex, value = 0n): Promise<void> => {
    const hash = await wallet.sendTransaction({ to, data, value })
    await wallet.waitForTransactionReceipt({ hash })
  }
  const fees = async () => {
    const { maxFeePerGas, maxPriorityFeePerGas } = await result(
      info.bundlerUrl,
      'biconomy_getGasFeeValues',
      [],
    )
    return {
      maxFeePerGas: BigInt(maxFeePerGas),
      maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
    }
  }

  return {
    tester,
    client,
    entryPoint,
    fees,
    /** A new account and paymaster that does as `set` says. */
    placeSettable: (value = parseEther('1')) => place(settableAccountCode, value),
    placePeeking: async () => {
      if (!peeking) throw new Error('PeekingAccount was not compiled')
      return place(peeking.runtime, parseEther('1'))
    },
    set: (account: Address, refuses: boolean, validationData = 0n) =>
      transact(
        account,
        encodeFunctionData({ abi, functionName: 'set', args: [refuses, false, validationData] }),
      ),
    deposit: (account: Address) =>
      transact(
        entryPoint,
        encodeFunctionData({ abi, functionName: 'depositTo', args: [account] }),
        parseEther('1'),
      ),
    /** An operation of a placed account that is good but for its `changes`. */
    operationOf: async (sender: Address, changes: Partial<Operation> = {}): Promise<Operation> => ({
      sender,
      nonce: 0n,
      factory: undefined,
      factoryData: '0x',
      callData: callData.touch,
      callGasLimit: 100_000n,
      verificationGasLimit: 200_000n,
      preVerificationGas: 100_000n,
      ...(await fees()),
      paymaster: undefined,
      paymasterVerificationGasLimit: 0n,
      paymasterPostOpGasLimit: 0n,
      paymasterData: '0x',
      signature: '0x01',
      authorization: undefined,
      ...changes,
    }),
    send: (op: Operation): Promise<Hex> =>
      result(info.bundlerUrl, 'eth_sendUserOperation', [toInterfaceOperation(op), entryPoint]),
  }
}

export type HostileParts = Awaited<ReturnType<typeof hostileParts>>
