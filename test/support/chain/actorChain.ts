import {
  type Abi,
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  parseEther,
} from 'viem'
import { DETERMINISTIC_DEPLOYER } from '../../../src/chain/contracts/deployments.js'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import type { EntryPoint, Version } from '../../../src/erc4337/entryPoint.js'
import { create2Address, fromHex } from '../../../src/evm/index.js'
import { type Act, actCall, actorInitcode } from '../erc7562/actor.js'
import { deployEntryPoint } from './entryPointContracts.js'
import { type Anvil, startAnvil } from './startAnvil.js'

export const UNSTAKE_DELAY = 2
export const MINIMUM_STAKE = parseEther('1')

const abi = parseAbi([
  'function depositTo(address account) payable',
  'function addStake(uint32 delay) payable',
])

const addStake = encodeFunctionData({ abi, functionName: 'addStake', args: [UNSTAKE_DELAY] })

/** A chain with EntryPoints, and actors that do on it what an operation or a transaction says. */
export type ActorChain = {
  readonly anvil: Anvil
  readonly entryPoints: ReadonlyMap<Version, EntryPoint>
  /** A new contract, made of this code by CREATE2, with `value` wei. */
  create(initcode: Hex, value?: bigint): Promise<Address>
  /** A new actor with ether and a deposit in the EntryPoint. */
  createActor(entryPoint: EntryPoint): Promise<Address>
  deposit(entryPoint: EntryPoint, account: Address): Promise<void>
  /** Makes an actor do something, in a transaction. */
  act(actor: Address, act: Act): Promise<void>
  stake(entryPoint: EntryPoint, actor: Address): Promise<void>
  /** The same for a contract with `forward(to, value, data)`. */
  stakeBy(entryPoint: EntryPoint, contract: Address, abi: Abi): Promise<void>
}

export async function openActorChain(
  versions: readonly Version[],
  chainId: number,
): Promise<ActorChain> {
  const anvil = await startAnvil(['--chain-id', String(chainId)])
  const entryPoints = new Map<Version, EntryPoint>()
  for (const version of versions)
    entryPoints.set(version, createEntryPoint(version, await deployEntryPoint(anvil, version)))
  const transact = async (to: Address, data: Hex, value = 0n): Promise<void> => {
    const receipt = await anvil.send({ to, data, value: numberToHex(value), gas: '0x989680' })
    if (receipt.status !== '0x1') throw new Error(`a transaction to ${to} failed`)
  }
  let salts = 0
  const create = async (initcode: Hex, value = 0n): Promise<Address> => {
    const salt = BigInt(++salts)
    const data = concatHex([numberToHex(salt, { size: 32 }), initcode])
    await transact(DETERMINISTIC_DEPLOYER, data, value)
    return create2Address(DETERMINISTIC_DEPLOYER, salt, fromHex(initcode))
  }
  const deposit = (entryPoint: EntryPoint, account: Address) => {
    const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [account] })
    return transact(entryPoint.address, data, parseEther('1'))
  }
  const act = (actor: Address, what: Act) => transact(actor, actCall(what))
  return {
    anvil,
    entryPoints,
    create,
    deposit,
    act,
    createActor: ({ address }) => {
      const act = { what: 'DEPOSIT', subject: address, value: parseEther('1') }
      return create(actorInitcode(act), parseEther('3'))
    },
    stake: (entryPoint, actor) =>
      act(actor, {
        what: 'CALL',
        subject: entryPoint.address,
        value: MINIMUM_STAKE,
        data: addStake,
      }),
    stakeBy: (entryPoint, contract, contractAbi) => {
      const args = [entryPoint.address, MINIMUM_STAKE, addStake]
      const data = encodeFunctionData({ abi: contractAbi, functionName: 'forward', args })
      return transact(contract, data)
    },
  }
}
