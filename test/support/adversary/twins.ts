import { type Address, encodeFunctionData, type Hex, numberToHex, parseAbi, parseEther } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import type { EntryPoint } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { Random } from '../../evm/random.js'
import type { Battlefield } from './battlefield.js'
import { executeCall } from './hostile.js'

const abi = parseAbi([
  'function depositTo(address account) payable',
  'function getNonce(address sender, uint192 key) view returns (uint256)',
])

const TWINS = 40

/** An operation of an account of EIP-7702, for one of its EntryPoints. */
type DelegatingOperation = { readonly op: Operation; readonly entryPoint: EntryPoint }

/**
 * Accounts of EIP-7702 that sign several authorizations with one nonce, for delegates that serve different
 * EntryPoints, and raise that nonce by transactions of their own: what makes a bundle void between simulation and block.
 */
export function createTwins(field: Battlefield, random: Random) {
  const twins = Array.from({ length: TWINS }, (_, n) =>
    privateKeyToAccount(keyFromSeed(`twin ${n}`)),
  )
  const { chainId } = field.info
  const from = () => random.pick(field.attackers)

  /** Gives each a deposit in every EntryPoint, and ether for transactions. */
  const prepare = async (): Promise<void> => {
    for (const { address } of twins) {
      const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [address] })
      const value = numberToHex(parseEther('0.3'))
      for (const { address: to } of field.delegates.keys())
        await field.transact(from(), { to, data, value, gas: numberToHex(100_000) })
      await field.transact(from(), { to: address, value, gas: numberToHex(21_000) })
    }
  }

  const authorize = async (twin: PrivateKeyAccount, address: Address, nonce: number) => {
    const { r, s, yParity } = await twin.signAuthorization({ address, chainId, nonce })
    return { address, chainId, nonce: BigInt(nonce), r, s, yParity: yParity as 0 | 1 }
  }

  /** Two or three operations of one account, most with authorizations of one nonce. */
  const draft = async (): Promise<readonly DelegatingOperation[]> => {
    const twin = random.pick(twins)
    const sender = twin.address.toLowerCase() as Address
    const nonce = Number(await field.request('eth_getTransactionCount', sender, 'latest'))
    const served = [...field.delegates.keys()]
    const gwei = BigInt(random.pick([2, 5, 10])) * 10n ** 9n
    const count = 2 + random.below(2)
    return Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const entryPoint = random.oneIn(4) ? random.pick(served) : served[at % served.length]!
        const isMeant = !random.oneIn(4)
        const delegate = field.delegates.get(isMeant ? entryPoint : random.pick(served))!
        const authorization = random.oneIn(6)
          ? undefined
          : await authorize(twin, delegate, nonce + (random.oneIn(10) ? 1 : 0))
        const args = [sender, BigInt(random.below(3))] as const
        const data = encodeFunctionData({ abi, functionName: 'getNonce', args })
        const callData = `${executeCall([])}${'ff'.repeat(random.pick([0, 4_000, 7_400, 60_000]))}`
        const op: Operation = {
          sender,
          nonce: BigInt(
            await field.request('eth_call', { to: entryPoint.address, data }, 'latest'),
          ),
          factory: undefined,
          factoryData: '0x',
          callData: callData as Hex,
          callGasLimit: 100_000n,
          verificationGasLimit: BigInt(random.pick([150_000, 900_000])),
          preVerificationGas: 100_000n,
          maxFeePerGas: gwei * 2n,
          maxPriorityFeePerGas: gwei,
          paymaster: undefined,
          paymasterVerificationGasLimit: 0n,
          paymasterPostOpGasLimit: 0n,
          paymasterData: '0x',
          signature: '0x',
          authorization,
        }
        return { op, entryPoint }
      }),
    )
  }

  /** A transaction of the account itself, which makes the authorizations of its nonce void. */
  const raiseNonce = async ({ sender }: Operation): Promise<void> => {
    const twin = twins.find(({ address }) => address.toLowerCase() === sender)!
    const nonce = Number(await field.request('eth_getTransactionCount', sender, 'latest'))
    const fee = BigInt(random.pick([3, 30])) * 10n ** 9n
    const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: fee }
    // The account may run a delegate whose code the transfer calls.
    const transaction = { chainId, to: sender, nonce, gas: 60_000n, ...fees }
    await field
      .request('eth_sendRawTransaction', await twin.signTransaction(transaction))
      .catch(() => {})
  }

  return { prepare, draft, raiseNonce }
}
