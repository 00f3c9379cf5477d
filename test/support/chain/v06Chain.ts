import { createRequire } from 'node:module'
import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  pad,
  parseAbi,
  parseEther,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { createNodeClient, type NodeClient } from '../../../src/chain/nodeClient.js'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import type { Draft } from '../../../src/erc4337/draft.js'
import type { EntryPoint } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { silent } from '../logger.js'
import { type Anvil, type Receipt, startAnvil, type Transaction } from './startAnvil.js'

const require = createRequire(import.meta.url)
function artifact(name: string) {
  return require(`account-abstraction-v06/artifacts/${name}.json`) as { bytecode: Hex }
}

const factoryAbi = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
])
const factoryViewAbi = parseAbi([
  'function getAddress(address owner, uint256 salt) view returns (address)',
])
const accountAbi = parseAbi(['function execute(address dest, uint256 value, bytes func)'])
const entryPointAbi = parseAbi([
  'function depositTo(address account) payable',
  'function getNonce(address sender, uint192 key) view returns (uint256)',
])

/** A SimpleAccount's signature that recovers to nobody we know, of the real length. */
export const dummySignature: Hex = `0x${'f'.repeat(31)}${'0'.repeat(33)}7${'a'.repeat(63)}1c`

export const beneficiary: Address = '0x8888888888888888888888888888888888888888'

export type Account = {
  readonly owner: PrivateKeyAccount
  readonly address: Address
  readonly factoryData: Hex
}

/** anvil with the real EntryPoint v0.6 and SimpleAccountFactory. */
export type V06Chain = {
  readonly anvil: Anvil
  readonly node: NodeClient
  readonly entryPoint: EntryPoint
  deploy(bytecode: Hex): Promise<Address>
  setCode(address: Address, code: Hex): Promise<void>
  setBalance(address: Address, wei: bigint): Promise<void>
  deposit(account: Address, wei: bigint): Promise<void>
  /** The SimpleAccount of the owner with this number, deployed or not. */
  account(number: number): Promise<Account>
  /** Deploys it with a deposit, so that its next operation meets a steady state. */
  deployedAccount(number: number): Promise<Account>
  /** An operation of `account` without limits and fees; counterfactual when not deployed. */
  draft(account: Account, call: Partial<Operation>): Promise<Draft>
  sign(account: Account, op: Operation): Promise<Operation>
  /** The transaction of a bundle. */
  bundle(ops: readonly Operation[], gas?: bigint, paid?: Address): Transaction
  handleOps(ops: readonly Operation[], gas?: bigint, paid?: Address): Promise<Receipt>
  stop(): Promise<void>
}

export function executeCall(to: Address, data: Hex, value = 0n): Hex {
  return encodeFunctionData({ abi: accountAbi, functionName: 'execute', args: [to, value, data] })
}

export async function startV06Chain(args: readonly string[] = []): Promise<V06Chain> {
  const anvil = await startAnvil(args)
  const node = createNodeClient({ urls: [anvil.url], logger: silent })
  const deploy = async (data: Hex): Promise<Address> => {
    const { contractAddress } = await anvil.send({ data })
    if (contractAddress === null) throw new Error('not deployed')
    return contractAddress
  }
  const entryPointAddress = await deploy(artifact('EntryPoint').bytecode)
  const entryPoint = createEntryPoint('0.6', entryPointAddress)
  const factory = await deploy(
    concatHex([artifact('SimpleAccountFactory').bytecode, pad(entryPointAddress)]),
  )
  const setBalance = async (address: Address, wei: bigint) => {
    await anvil.request('anvil_setBalance', [address, `0x${wei.toString(16)}`])
  }
  const deposit = async (account: Address, wei: bigint) => {
    const data = encodeFunctionData({
      abi: entryPointAbi,
      args: [account],
      functionName: 'depositTo',
    })
    await anvil.send({ to: entryPointAddress, data, value: `0x${wei.toString(16)}` })
  }
  await setBalance(beneficiary, 1n)
  const bundle: V06Chain['bundle'] = (ops, gas = 16_000_000n, paid = beneficiary) => ({
    to: entryPointAddress,
    data: entryPoint.encodeHandleOps(ops, paid),
    gas: `0x${gas.toString(16)}`,
  })

  const account = async (number: number): Promise<Account> => {
    const owner = privateKeyToAccount(pad(`0x${(number + 0xabc).toString(16)}`))
    const args = [owner.address, 0n] as const
    const address = await anvil.client.readContract({
      address: factory,
      abi: factoryViewAbi,
      functionName: 'getAddress',
      args,
    })
    const factoryData = encodeFunctionData({ abi: factoryAbi, functionName: 'createAccount', args })
    return { owner, address: address.toLowerCase() as Address, factoryData }
  }

  return {
    anvil,
    node,
    entryPoint,
    deploy,
    setBalance,
    deposit,
    account,
    async setCode(address, code) {
      await anvil.request('anvil_setCode', [address, code])
    },
    async deployedAccount(number) {
      const created = await account(number)
      await anvil.send({ to: factory, data: created.factoryData })
      await deposit(created.address, parseEther('1'))
      await setBalance(created.address, parseEther('1'))
      return created
    },
    async draft({ address, factoryData }, call) {
      const deployed = (await anvil.client.getCode({ address })) !== undefined
      const nonce = await anvil.client.readContract({
        address: entryPointAddress,
        abi: entryPointAbi,
        functionName: 'getNonce',
        args: [address, 0n],
      })
      return {
        sender: address,
        nonce,
        factory: deployed ? undefined : factory,
        factoryData: deployed ? '0x' : factoryData,
        callData: '0x',
        callGasLimit: undefined,
        verificationGasLimit: undefined,
        preVerificationGas: undefined,
        maxFeePerGas: undefined,
        maxPriorityFeePerGas: undefined,
        paymaster: undefined,
        paymasterVerificationGasLimit: undefined,
        paymasterPostOpGasLimit: undefined,
        paymasterData: '0x',
        signature: dummySignature,
        authorization: undefined,
        ...call,
      }
    },
    async sign({ owner }, op) {
      const raw = entryPoint.hash(op, 31337)
      return { ...op, signature: await owner.signMessage({ message: { raw } }) }
    },
    bundle,
    handleOps: (...args) => anvil.send(bundle(...args)),
    async stop() {
      await node.close()
      await anvil.stop()
    },
  }
}
