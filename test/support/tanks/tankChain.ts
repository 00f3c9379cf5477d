import {
  type Address,
  type BaseError,
  decodeErrorResult,
  encodeFunctionData,
  type Hex,
  isHex,
  numberToHex,
  parseAbi,
  parseEther,
} from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { tank06, tank07, tankFactoryAddress } from '../../../src/contracts/deployments.js'
import { abi as factoryAbi } from '../../../src/contracts/generated/TankFactory.js'
import { deployDevContracts } from '../../../src/devnet/deployDevContracts.js'
import { devWallet } from '../../../src/devnet/devWallet.js'
import { type AccountCall, keyFromSeed, simpleAccount } from '../../../src/devnet/simpleAccount.js'
import type { Anvil } from '../../../src/devnet/startAnvil.js'
import { createEntryPoint } from '../../../src/entrypoint/createEntryPoint.js'
import type { OperationOutcome, Version } from '../../../src/entrypoint/entryPoint.js'
import type { Operation } from '../../../src/entrypoint/operation.js'
import type { TimeRange } from '../../../src/entrypoint/validationData.js'
import { encodeTankData, sponsorshipHash } from '../../../src/paymaster/tank/tankData.js'
import { startNode } from '../nodes/startNode.js'

export const VERSIONS: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']

/** The versions whose SimpleAccount takes the userOpHash as a signed message (EIP-191). */
const SIGNING_MESSAGES: readonly Version[] = ['0.6', '0.7']

export const TARGET: Address = '0x00000000000000000000000000000000000a11ce'
export const OWNER_KEY = keyFromSeed('tank owner')
export const SIGNER_A = keyFromSeed('signer a')
export const SIGNER_B = keyFromSeed('signer b')
export function lower(address: Address): Address {
  return address.toLowerCase() as Address
}

const depositAbi = parseAbi([
  'function depositTo(address account) payable',
  'function balanceOf(address account) view returns (uint256)',
])

/** A node; where a service asks it, if that is not where tests do. */
export type RunningNode = Anvil & { readonly nodeUrl?: string }

type TankOptions = {
  readonly wei?: bigint
  readonly signerB?: Address
  /** Another EntryPoint. */
  readonly at?: Address
  /** The code that it runs, if not that of a sponsoring tank of the version. */
  readonly runs?: Address
}

/** The signed values, where they differ from the truth. */
type SponsorOptions = Partial<TimeRange> & {
  readonly signerKey?: Hex
  readonly tank?: Address
  readonly entryPoint?: Address
  /** The address that the sender's code points to (EIP-7702). */
  readonly delegate?: Address
}

/** A chain with every EntryPoint (`running`, or a new one), and what tests of `version` do on it. */
export async function openTankChain(version: Version, chainId = 31337, running?: RunningNode) {
  const anvil: RunningNode = running ?? (await startNode(chainId))
  const { entryPoints, factories, delegates } = await deployDevContracts(anvil.rpcUrl)
  const wallet = await devWallet(anvil.rpcUrl)
  const entryPoint = createEntryPoint(version, entryPoints[version]!)
  const implementation = version === '0.6' ? tank06.address : tank07.address

  const transact = async (to: Address, data: Hex, value = 0n) => {
    const hash = await wallet.sendTransaction({ to, data, value, gas: 10_000_000n })
    return wallet.waitForTransactionReceipt({ hash })
  }

  const deposit = (tank: Address, wei: bigint, at = entryPoint.address) => {
    const args = [tank] as const
    return transact(
      at,
      encodeFunctionData({ abi: depositAbi, functionName: 'depositTo', args }),
      wei,
    )
  }

  const depositOf = (tank: Address, at = entryPoint.address): Promise<bigint> =>
    wallet.readContract({ address: at, abi: depositAbi, functionName: 'balanceOf', args: [tank] })

  const tankArguments = (salt: number, { signerB, at, runs }: TankOptions) =>
    [
      runs ?? implementation,
      at ?? entryPoint.address,
      privateKeyToAddress(OWNER_KEY),
      privateKeyToAddress(SIGNER_A),
      signerB ?? privateKeyToAddress(SIGNER_B),
      numberToHex(salt, { size: 32 }),
    ] as const

  const predictTank = async (salt: number, options: TankOptions = {}): Promise<Address> => {
    const args = tankArguments(salt, options)
    const call = { abi: factoryAbi, address: tankFactoryAddress.address, args } as const
    return lower(await wallet.readContract({ ...call, functionName: 'predict' }))
  }

  /** A tank of its own for each `salt`, filled with `wei` (1 ETH). */
  const createTank = async (salt: number, options: TankOptions = {}): Promise<Address> => {
    const { wei = parseEther('1'), at = entryPoint.address } = options
    const args = tankArguments(salt, options)
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'create', args })
    await transact(tankFactoryAddress.address, data)
    const tank = await predictTank(salt, options)
    if (wei > 0n) await deposit(tank, wei, at)
    return tank
  }

  /** An operation of the account that `seed` owns, with generous limits, without sponsor. */
  const draft = async (seed: string, call: AccountCall = { to: TARGET }, nonceKey = 0n) => {
    const account = await simpleAccount(
      {
        read: async (to, data) => (await wallet.call({ to, data })).data ?? '0x',
        isDeployed: async (address) => (await wallet.getCode({ address })) !== undefined,
      },
      { ownerKey: keyFromSeed(seed), factory: factories[version]!, entryPoint: entryPoint.address },
    )
    const op: Operation = {
      ...(await account.draft(call, nonceKey)),
      callGasLimit: 100_000n,
      verificationGasLimit: 600_000n,
      preVerificationGas: 60_000n,
      maxFeePerGas: 3_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    }
    return op
  }

  /** The operation with what `signerKey` signs for it; `options` may bend the truth. */
  const sponsor = async (op: Operation, tank: Address, options: SponsorOptions = {}) => {
    const { signerKey = SIGNER_A, validUntil = 0, validAfter = 0, delegate } = options
    const range = { validUntil, validAfter }
    const estimated = op.paymaster === tank ? op.paymasterVerificationGasLimit : 100_000n
    const paymasterVerificationGasLimit = version === '0.6' ? 0n : estimated
    const paying = { ...op, paymaster: tank, paymasterVerificationGasLimit }
    const hash = sponsorshipHash(
      { ...paying, paymaster: options.tank ?? tank },
      { version, address: options.entryPoint ?? entryPoint.address },
      chainId,
      range,
      delegate,
    )
    const signature = await privateKeyToAccount(signerKey).sign({ hash })
    return { ...paying, paymasterData: encodeTankData(range, signature) }
  }

  /** Signs as the account that `seed` owns, whatever the operation says. */
  const sign = async (op: Operation, seed: string, at = entryPoint): Promise<Operation> => {
    const owner = privateKeyToAccount(keyFromSeed(seed))
    const hash = at.hash(op, chainId)
    const signature = SIGNING_MESSAGES.includes(version)
      ? await owner.signMessage({ message: { raw: hash } })
      : await owner.sign({ hash })
    return { ...op, signature }
  }

  /** The failure of handleOps in an eth_call, with the tank's own words; undefined when it passes. */
  const failureOf = async (
    ops: readonly Operation[],
    at = entryPoint,
  ): Promise<string | undefined> => {
    const data = at.encodeHandleOps(ops, TARGET)
    const error = await wallet.call({ to: at.address, data, gas: 10_000_000n }).then(
      () => undefined,
      (reason: BaseError) => reason,
    )
    return error && at.decodeFailure(revertDataOf(error))?.message
  }

  /** Sends the bundle; its outcomes in order. */
  const handleOps = async (ops: readonly Operation[]): Promise<readonly OperationOutcome[]> => {
    const receipt = await transact(entryPoint.address, entryPoint.encodeHandleOps(ops, TARGET))
    return entryPoint.decodeOutcomes(receipt.logs)
  }

  return {
    anvil,
    wallet,
    chainId,
    version,
    entryPoint,
    entryPoints,
    factories,
    delegates,
    implementation,
    transact,
    deposit,
    depositOf,
    predictTank,
    createTank,
    draft,
    sponsor,
    sign,
    failureOf,
    handleOps,
  }
}

export type TankChain = Awaited<ReturnType<typeof openTankChain>>

/** The revert data that a failed viem call carries. */
export function revertDataOf(error: BaseError): Hex {
  const carrier = error.walk((cause) => isHex((cause as { data?: unknown }).data))
  if (carrier === null) throw error
  return (carrier as unknown as { data: Hex }).data
}

/** The text of an Error(string) revert. */
export function revertReasonOf(error: BaseError): string {
  const { args } = decodeErrorResult({
    abi: parseAbi(['error Error(string)']),
    data: revertDataOf(error),
  })
  return args[0]
}
