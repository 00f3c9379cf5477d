import {
  type Address,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  numberToHex,
  parseAbi,
} from 'viem'
import { devContracts } from '../../src/cli/devnet/devContracts.js'
import { createEntryPoint } from '../../src/erc4337/createEntryPoint.js'
import type { EntryPoint, OperationOutcome, Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import {
  type BlockEnv,
  type CallResult,
  call,
  type EvmAccountOverride,
  type EvmAuthorization,
  type Fork,
  fromHex,
  overlay,
  type State,
  toHex,
} from '../../src/evm/index.js'
import { toLog } from '../../src/simulation/inProcess/simulatedOperation.js'
import { BLOCK } from '../evm/localEntryPoint.js'
import { transact } from '../evm/transact.js'
import { compileScripted } from '../support/chain/scripted.js'
import { scriptedAbi } from '../support/chain/scriptedBundles.js'
import { plainOperation } from '../support/operations/plainOperation.js'

const DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const DEPLOYER_CODE: Hex =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
const RICH: Address = '0x00000000000000000000000000000000000000aa'
/** Who sends bundles, and is paid for them. */
export const EXECUTOR: Address = '0x00000000000000000000000000000000000000ee'
const FUNDS = 10n ** 20n
const BUNDLE_GAS = 12_000_000

const abi = parseAbi([
  'function depositTo(address) payable',
  'function withdrawTo(address, uint256)',
  'function getNonce(address, uint192) view returns (uint256)',
])

/** What a bundle did, by its own transaction. */
export type Handled = {
  readonly success: boolean
  readonly gasUsed: bigint
  readonly output: Hex
  readonly outcomes: readonly OperationOutcome[]
}

/** EntryPoints and scripted accounts in our own EVM, by the rules of a fork. */
export class ForkWorld {
  readonly entryPoint: EntryPoint
  readonly delegate: Address | undefined
  readonly factory: Address
  #fork: Fork = 'osaka'
  #state: State
  #nonce = 0n

  constructor(version: Version) {
    const contracts = devContracts(version)
    this.entryPoint = createEntryPoint(version, contracts.entryPoint, () => [this.#fork])
    this.factory = contracts.factory
    this.delegate = contracts.delegate
    const empty = {
      account: () => ({ nonce: 0n, balance: 0n, code: new Uint8Array(0) }),
      slot: () => 0n,
    }
    this.#state = overlay(
      empty,
      new Map<Address, EvmAccountOverride>([
        [RICH, { balance: 10n ** 24n }],
        [EXECUTOR, { balance: 10n ** 24n }],
        [DEPLOYER, { code: fromHex(DEPLOYER_CODE) }],
        ...contracts.placements.map(({ address, code }): [Address, EvmAccountOverride] => [
          address,
          { nonce: 1n, code: fromHex(code(31_337)) },
        ]),
      ]),
    )
    for (const { deployData } of contracts.deployments) this.send(DEPLOYER, deployData)
  }

  /** Makes what follows go by the rules of `fork`. */
  enter(fork: Fork): void {
    this.#fork = fork
  }

  /** A scripted account or paymaster with a deposit of `deposit` wei. */
  place(address: Address, deposit = FUNDS): void {
    this.#state = overlay(
      this.#state,
      new Map([[address, { nonce: 1n, balance: FUNDS, code: fromHex(compileScripted()) }]]),
    )
    const args = [0n, false] as const
    this.send(address, encodeFunctionData({ abi: scriptedAbi, functionName: 'configure', args }))
    if (deposit > 0n) this.deposit(address, deposit)
  }

  /** Code at an address, with a balance of `wei`. */
  placeCode(address: Address, code: Hex, wei = FUNDS): void {
    const account = { nonce: 1n, balance: wei, code: fromHex(code) }
    this.#state = overlay(this.#state, new Map([[address, account]]))
  }

  deposit(address: Address, wei: bigint): void {
    const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [address] })
    this.send(this.entryPoint.address, data, wei)
  }

  fund(address: Address, wei: bigint): void {
    this.#state = overlay(this.#state, new Map([[address, { balance: wei }]]))
  }

  send(to: Address, data: Hex, value = 0n, from: Address = RICH): Hex {
    const input = { from, to, data: fromHex(data), value, gas: 16_000_000 }
    const context = {
      state: this.#state,
      block: BLOCK,
      onMiss: 'stop',
      record: false,
      maxSteps: 1e8,
    } as const
    const outcome = call(context, input)
    if (outcome.kind !== 'done' || !outcome.success)
      throw new Error(`a set-up failed: ${outcome.kind}`)
    this.#state = overlay(this.#state, outcome.changes)
    return toHex(outcome.output)
  }

  nonce(sender: Address): bigint {
    const data = encodeFunctionData({ abi, functionName: 'getNonce', args: [sender, 0n] })
    return hexToBigInt(this.send(this.entryPoint.address, data))
  }

  operation(sender: Address, callData: Hex, fields: Partial<Operation> = {}): Operation {
    return plainOperation({
      sender,
      nonce: this.nonce(sender),
      callData,
      callGasLimit: 50_000n,
      verificationGasLimit: 300_000n,
      preVerificationGas: 60_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      signature: `0x${'5a'.repeat(65)}`,
      ...fields,
    })
  }

  /** Sends a bundle, and keeps what it changes only where `keeps`. */
  handle(
    ops: readonly Operation[],
    {
      gas = BUNDLE_GAS,
      beneficiary = EXECUTOR,
      authorizations,
      keeps = false,
    }: {
      gas?: number
      beneficiary?: Address
      authorizations?: readonly EvmAuthorization[] | undefined
      keeps?: boolean
    } = {},
  ): Handled {
    const block: BlockEnv = { ...BLOCK, fork: this.#fork, gasLimit: 200_000_000n }
    const outcome = transact(
      { state: this.#state, block, onMiss: 'stop', record: false, maxSteps: 1e8 },
      {
        from: EXECUTOR,
        to: this.entryPoint.address,
        data: fromHex(this.entryPoint.encodeHandleOps(ops, beneficiary)),
        value: 0n,
        gas,
        nonce: this.#nonce,
        maxFeePerGas: 2n * BLOCK.baseFee,
        maxPriorityFeePerGas: 0n,
        ...(authorizations && { authorizations }),
      },
    )
    if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome))
    if (keeps) {
      this.#state = overlay(this.#state, outcome.changes)
      this.#nonce++
    }
    return handledOf(this.entryPoint, outcome)
  }
}

function handledOf(entryPoint: EntryPoint, result: CallResult): Handled {
  const logs = result.logs.map(toLog)
  return {
    success: result.success,
    gasUsed: BigInt(result.gasUsed),
    output: toHex(result.output),
    outcomes: result.success ? entryPoint.decodeOutcomes(logs) : [],
  }
}

export function accountAt(index: number): Address {
  return numberToHex(0xabc000 + index, { size: 20 })
}
