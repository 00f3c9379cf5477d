import {
  type Address,
  encodeFunctionData,
  numberToHex,
  parseAbi,
  parseEther,
  parseGwei,
} from 'viem'
import type { ChainDefinition } from '../../../src/chain/definition/chainDefinition.js'
import type { HeadFollower } from '../../../src/chain/headFollower.js'
import type { EntryPoint } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { expectedShare, preVerificationGas } from '../../../src/gas/preVerificationGas.js'
import { settableAccountCode } from '../chain/settableAccount.js'
import type { DeployedNode } from './ground.js'
import { plainOperation } from '../operations/plainOperation.js'

export const settableAccountAbi = parseAbi([
  'function set(bool refuses, bool refusesOnChain, uint256 validationData)',
  'function touch()',
  'function poke(address other, bytes data)',
  'function fail(string reason)',
  'function spoof(bytes32 userOpHash)',
])

const entryPointAbi = parseAbi([
  'function depositTo(address) payable',
  'function withdrawTo(address, uint256)',
])

export const touch = encodeFunctionData({ abi: settableAccountAbi, functionName: 'touch' })

/** The behaviour of a settable account; a setting that is left out returns to normal. */
type AccountSettings = {
  /** Validation reverts. */
  readonly refuses?: boolean
  /** Validation reverts in blocks that REFUSED produces, so in no simulation. */
  readonly refusesOnChain?: boolean
  readonly validationData?: bigint
}

type Place = {
  readonly definition: ChainDefinition
  readonly heads: HeadFollower
  readonly entryPoint: EntryPoint
}

let accounts = 0

/** Accounts of EntryPoint v0.6 that need no signature and do as the test says. */
export function settableAccounts(
  { anvil }: Pick<DeployedNode, 'anvil'>,
  { definition, heads, entryPoint }: Place,
) {
  return {
    /** A new settable account with this deposit in the EntryPoint (wei, default 1 ether). */
    async createAccount(deposit = parseEther('1')): Promise<Address> {
      const address = numberToHex(0xabc000 + ++accounts, { size: 20 })
      await anvil.request('anvil_setCode', [address, settableAccountCode])
      const args = [address] as const
      const data = encodeFunctionData({ abi: entryPointAbi, functionName: 'depositTo', args })
      await anvil.send({ to: entryPoint.address, data, value: numberToHex(deposit) })
      await heads.refresh()
      return address
    },
    async configure(
      account: Address,
      { refuses = false, refusesOnChain = false, validationData = 0n }: AccountSettings,
    ): Promise<void> {
      const args = [refuses, refusesOnChain, validationData] as const
      const data = encodeFunctionData({ abi: settableAccountAbi, functionName: 'set', args })
      await anvil.send({ to: account, data })
      await heads.refresh()
    },
    operation(sender: Address, fields: Partial<Operation> = {}): Operation {
      const op = plainOperation({
        sender,
        callData: touch,
        preVerificationGas: 0n,
        maxFeePerGas: parseGwei('10'),
        maxPriorityFeePerGas: parseGwei('2'),
        ...fields,
      })
      const { expectedBundleSize: size } = definition
      const widest = { ...op, preVerificationGas: 0xffffffn }
      const required = preVerificationGas(entryPoint, widest, {
        ...expectedShare(definition, size === 'auto' ? 1 : size),
        verificationGasUsed: 0n,
        contextSize: 0,
      })
      return { ...op, preVerificationGas: fields.preVerificationGas ?? required }
    },
    /** Takes deposit out of the EntryPoint, as the account's owner would. */
    async withdraw(account: Address, amount: bigint): Promise<void> {
      const args = [anvil.account, amount] as const
      const data = encodeFunctionData({ abi: entryPointAbi, functionName: 'withdrawTo', args })
      await anvil.request('anvil_impersonateAccount', [account])
      await anvil.request('anvil_setBalance', [account, numberToHex(parseEther('1'))])
      const receipt = await anvil.send({ from: account, to: entryPoint.address, data })
      if (receipt.status !== '0x1') throw new Error('nothing was withdrawn')
      await heads.refresh()
    },
  }
}
