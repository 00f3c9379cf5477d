import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
import { encodeOperation } from '../../src/api/dialects/operationFields.js'
import { DETERMINISTIC_DEPLOYER } from '../../src/contracts/deployments.js'
import { devKey } from '../../src/devnet/devKeys.js'
import type { EntryPoint, Version } from '../../src/entrypoint/entryPoint.js'
import { createEntryPoint } from '../../src/entrypoint/index.js'
import type { Operation } from '../../src/entrypoint/operation.js'
import { create2Address, fromHex } from '../../src/evm/index.js'
import { type Act, actCall, actorInitcode } from '../validation/erc7562/actor.js'
import { commandsOn } from './cliAnswers.js'
import { deployEntryPoint } from './entryPointContracts.js'
import { type Json, type RpcAnswer, result, rpc } from './jsonRpc.js'
import { type Anvil, startAnvil } from './startAnvil.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from './startPurser.js'

const CHAIN_ID = 7_562
export const UNSTAKE_DELAY = 2
export const MINIMUM_STAKE = parseEther('1')

const abi = parseAbi([
  'function depositTo(address account) payable',
  'function addStake(uint32 delay) payable',
])

const addStake = encodeFunctionData({ abi, functionName: 'addStake', args: [UNSTAKE_DELAY] })

/** A service with `debug_bundler_*` on a chain with every EntryPoint, as its operator runs it. */
export type ComplianceChain = {
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
  send(entryPoint: EntryPoint, op: Operation): Promise<RpcAnswer['body']>
  debug(method: string, ...params: unknown[]): Promise<Json>
  call(method: string, ...params: unknown[]): Promise<Json>
  stop(): Promise<void>
}

export const openComplianceChain = async (
  versions: readonly Version[],
): Promise<ComplianceChain> => {
  const folder = makeDataFolder()
  const anvil = await startAnvil(['--chain-id', String(CHAIN_ID)])
  const entryPoints = new Map<Version, EntryPoint>()
  for (const version of versions)
    entryPoints.set(version, createEntryPoint(version, await deployEntryPoint(anvil, version)))
  const service = await serve(folder, anvil, [...entryPoints.values()])
  const url = `${urlOf(service)}/api/v3/${CHAIN_ID}/${service.apiKey}`

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
    ...{ anvil, entryPoints, create, deposit, act },
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
    send: async (entryPoint, op) => {
      const params = [encodeOperation(op, entryPoint.version), entryPoint.address]
      return (await rpc(url, 'eth_sendUserOperation', params)).body
    },
    debug: (method, ...params) => result(url, `debug_bundler_${method}`, params),
    call: (method, ...params) => result(url, method, params),
    async stop() {
      await service.end('SIGTERM')
      await anvil.stop()
      removeDataFolder(folder)
    },
  }
}

const serve = async (
  folder: string,
  anvil: Anvil,
  entryPoints: readonly EntryPoint[],
): Promise<RunningService & { apiKey: string }> => {
  const chain = {
    chainId: CHAIN_ID,
    rpcUrls: [anvil.url],
    entryPoints: entryPoints.map(({ version, address }) => ({ version, address })),
    executorKeys: [devKey(1)],
    pollInterval: 50,
    maxOperationsPerSender: 4,
    minimumStake: MINIMUM_STAKE.toString(),
    minimumUnstakeDelay: UNSTAKE_DELAY,
  }
  const PURSER_CONFIG = join(folder, 'purser.json')
  const config = { chains: [chain], port: 0, logLevel: 'warn', debugMethods: true }
  writeFileSync(PURSER_CONFIG, JSON.stringify(config))
  const { tenant } = commandsOn(folder, { PURSER_CONFIG })
  const { apiKey } = await tenant('compliance')
  const service = await startService(['serve', '--data', folder], { PURSER_CONFIG })
  return { ...service, apiKey }
}
