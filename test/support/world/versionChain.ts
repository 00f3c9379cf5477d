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
import {
  DETERMINISTIC_DEPLOYER,
  deployment,
  tank06,
  tank07,
  tankFactoryAddress,
} from '../../../src/chain/contracts/deployments.js'
import { abi as factoryAbi } from '../../../src/chain/contracts/generated/TankFactory.js'
import {
  type AccountCall,
  keyFromSeed,
  simpleAccount,
} from '../../../src/cli/devnet/simpleAccount.js'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import { DELEGATION_MARKER } from '../../../src/erc4337/delegation.js'
import type { OperationOutcome, Version } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { TimeRange } from '../../../src/erc4337/validationData.js'
import { sponsorshipHash } from '../../../src/paymaster/tank/sponsorshipHash.js'
import { encodeTankData } from '../../../src/paymaster/tank/tankData.js'
import { contracts } from '../chain/v06Contracts.js'
import type { DeployedNode } from './ground.js'

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

/** The state of an operation's sender before it is sent. */
export type SenderKind = 'deployed' | 'counterfactual' | 'delegated'

/** Senders that exist with the accounts of this version. */
export function senderKinds(version: Version): readonly SenderKind[] {
  return version >= '0.8'
    ? ['deployed', 'counterfactual', 'delegated']
    : ['deployed', 'counterfactual']
}

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

export type VersionChain = ReturnType<typeof versionChain>

/** The acts of tests with one EntryPoint version: its accounts, its tanks, its operations. */
export function versionChain(node: DeployedNode, version: Version) {
  const { anvil, wallet, tester, chainId, deployed, eyes } = node
  const { entryPoints, factories, delegates } = deployed
  const entryPoint = createEntryPoint(version, entryPoints[version]!)
  const implementation = version === '0.6' ? tank06.address : tank07.address
  const delegate = delegates[version]
  const executor = lower(wallet.account.address)

  const transact = async (to: Address, data: Hex, value = 0n) => {
    const hash = await wallet.sendTransaction({ to, data, value, gas: 10_000_000n })
    return wallet.waitForTransactionReceipt({ hash })
  }

  const deploy = async (code: Hex): Promise<Address> => {
    const { address, deployData } = deployment(code)
    await transact(DETERMINISTIC_DEPLOYER, deployData)
    return address
  }

  const deposit = (account: Address, wei: bigint, at = entryPoint.address) => {
    const args = [account] as const
    return transact(
      at,
      encodeFunctionData({ abi: depositAbi, functionName: 'depositTo', args }),
      wei,
    )
  }

  const depositOf = (account: Address, at = entryPoint.address): Promise<bigint> =>
    wallet.readContract({
      address: at,
      abi: depositAbi,
      functionName: 'balanceOf',
      args: [account],
    })

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

  /** The SimpleAccount of a key made from `seed`. */
  const account = (seed: string) =>
    simpleAccount(
      {
        read: async (to, data) => (await wallet.call({ to, data })).data ?? '0x',
        isDeployed: async (address) => (await wallet.getCode({ address })) !== undefined,
      },
      { ownerKey: keyFromSeed(seed), factory: factories[version]!, entryPoint: entryPoint.address },
    )

  /** An operation of the account that `seed` owns, with generous limits, without sponsor. */
  const accountDraft = async (seed: string, call: AccountCall = { to: TARGET }, nonceKey = 0n) => {
    const op: Operation = {
      ...(await (await account(seed)).draft(call, nonceKey)),
      callGasLimit: 100_000n,
      verificationGasLimit: 600_000n,
      preVerificationGas: 60_000n,
      maxFeePerGas: 3_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    }
    return op
  }

  /** An unsigned operation of a fresh sender of this kind, without funds. */
  const draft = async (kind: SenderKind, seed: string, call?: AccountCall): Promise<Operation> => {
    const op = await accountDraft(seed, call)
    if (kind === 'delegated') return delegated(op, seed)
    if (kind === 'counterfactual' || !op.factory) return op
    await create(op, seed)
    return accountDraft(seed, call)
  }

  /** By an operation of its own: factories of v0.8 and later serve the EntryPoint only. */
  async function create(op: Operation, seed: string): Promise<void> {
    // By the rules of Amsterdam a SimpleAccount costs 956,000 gas; more gas at a lower price leaves about as many wei.
    const fees = { maxFeePerGas: 900_000_000n, maxPriorityFeePerGas: 900_000_000n }
    const creation = { ...op, ...fees, callData: '0x', verificationGasLimit: 2_000_000n } as const
    await deposit(op.sender, entryPoint.requiredPrefund(creation))
    const [outcome] = await handleOps([await sign(creation, seed)])
    if (!outcome?.success) throw new Error(`${op.sender} was not created`)
  }

  async function delegated(op: Operation, seed: string): Promise<Operation> {
    if (delegate === undefined) throw new Error(`no account delegates in v${version}`)
    const owner = privateKeyToAccount(keyFromSeed(seed))
    const nonce = await tester.getTransactionCount({ address: owner.address })
    const signed = await owner.signAuthorization({ address: delegate, chainId, nonce })
    return {
      ...op,
      sender: lower(owner.address),
      factory: DELEGATION_MARKER,
      factoryData: '0x',
      authorization: { ...signed, nonce: BigInt(nonce), yParity: signed.yParity as 0 | 1 },
    }
  }

  /** The operation with what `signerKey` signs for it; `options` may bend the truth. */
  const sponsor = async (op: Operation, tank: Address, options: SponsorOptions = {}) => {
    const { signerKey = SIGNER_A, validUntil = 0, validAfter = 0, delegate: to } = options
    const range = { validUntil, validAfter }
    const estimated = op.paymaster === tank ? op.paymasterVerificationGasLimit : 100_000n
    const paymasterVerificationGasLimit = version === '0.6' ? 0n : estimated
    const paying = { ...op, paymaster: tank, paymasterVerificationGasLimit }
    const hash = sponsorshipHash(
      { ...paying, paymaster: options.tank ?? tank },
      { version, address: options.entryPoint ?? entryPoint.address },
      chainId,
      range,
      to,
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

  /** Sends the operation alone, with what it needs of gas; the receipt's outcome and its trace. */
  const send = async (op: Operation, gas = 10_000_000n) => {
    const authorizationList = op.authorization && [
      { ...op.authorization, nonce: Number(op.authorization.nonce) },
    ]
    const hash = await wallet.sendTransaction({
      to: entryPoint.address,
      data: entryPoint.encodeHandleOps([op], executor),
      gas,
      ...(authorizationList && { authorizationList }),
    })
    const receipt = await wallet.waitForTransactionReceipt({ hash })
    await eyes.heads.refresh()
    const [outcome] = entryPoint.decodeOutcomes(receipt.logs)
    return { hash, receipt, outcome: outcome as OperationOutcome | undefined }
  }

  /** `body` on the chain as it is; afterwards the chain is as before. */
  const undone = async <T>(body: () => Promise<T>): Promise<T> => {
    const id = await tester.snapshot()
    try {
      return await body()
    } finally {
      await tester.revert({ id })
      await eyes.heads.refresh()
    }
  }

  return {
    anvil,
    tester,
    wallet,
    engine: eyes,
    chainId,
    version,
    entryPoint,
    entryPoints,
    factories,
    delegates,
    implementation,
    executor,
    /** The contract `Target` of the tests. */
    target: node.target,
    transact,
    deploy,
    fund: (address: Address, wei = parseEther('1')) => tester.setBalance({ address, value: wei }),
    deposit,
    depositOf,
    predictTank,
    createTank,
    account,
    accountDraft,
    draft,
    sponsor,
    sign,
    failureOf,
    handleOps,
    send,
    undone,
    onTarget: (functionName: string, ...args: unknown[]): AccountCall => ({
      to: node.target,
      data: encodeFunctionData({ abi: contracts.Target!.abi, functionName, args }),
    }),
  }
}

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
