import type { Address, Hex } from 'viem'
import { type CallRequest, encodeEthCall } from '../../chain/ethCall.js'
import { blockParameter } from '../../chain/head.js'
import type { NodeAnswer } from '../../chain/jsonRpc.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { StateProvider } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import {
  type BlockEnv,
  call,
  type EvmMessage,
  type OnMiss,
  overlay,
  type State,
  toHex,
  trackState,
} from '../../evm/index.js'
import type { StateOverride } from '../engine.js'
import { authorizationOverride, mergeOverrides, toEvmOverrides } from '../evmOverrides.js'
import { accessHintsOf } from '../inProcess/accessHintsOf.js'
import { handleOpsCall, MAX_STEPS } from '../inProcess/simulateOperation.js'
import { smallestLimit } from '../inProcess/smallestLimit.js'

/** The kind of comparison: gas and output of a trace, the gas limit that just suffices, or revert data. */
export type CheckedBy = 'trace' | 'threshold' | 'revert'

/** Whether our EVM and the node agree; if not, the answer of each in words, for the log. */
type SelfCheck =
  | { readonly agrees: true; readonly by: CheckedBy }
  | { readonly agrees: false; readonly by: CheckedBy; readonly ours: string; readonly node: string }

/**
 * A comparison of our EVM with the node: both run handleOps with `op`, just as it is, on the same block.
 * Where the node traces calls, gas and output must be equal. Else the smallest gas limit with which
 * handleOps succeeds here must be the smallest there, which two eth_call show; as the EntryPoint checks
 * how much gas is left before it executes (AA95), every unit spent until then counts. For a refused
 * operation without a trace only the revert data are compared.
 */
export async function selfCheck(
  { node, state }: { readonly node: NodeClient; readonly state: StateProvider },
  entryPoint: EntryPoint,
  op: Operation,
  override: StateOverride = {},
): Promise<SelfCheck> {
  const pretended = mergeOverrides(authorizationOverride(op), override)
  const overrides = toEvmOverrides(pretended)
  const inputOn = (block: BlockEnv) => ({
    ...handleOpsCall(entryPoint, op, block),
    accessList: undefined,
  })
  const execute = (known: State, block: BlockEnv, input: EvmMessage, onMiss: OnMiss) =>
    call(
      { state: overlay(known, overrides), block, onMiss, record: true, maxSteps: MAX_STEPS },
      input,
    )

  const hints = accessHintsOf(entryPoint, op, 'execution')
  const { result } = await state.withState(hints, async (known) => {
    const { state: tracked, touched } = trackState(known)
    const outcome = execute(tracked, known.block, inputOn(known.block), 'guess')
    if (outcome.kind !== 'done') return outcome
    return { ...outcome, known, touched, preimages: outcome.record?.preimages ?? [] }
  })
  const { known } = result
  const { block } = known
  const input = inputOn(block)
  const requestWith = (gas: number): CallRequest => ({
    from: input.from,
    to: input.to,
    data: toHex(input.data),
    gas: BigInt(gas),
  })
  const ours = `gas ${result.gasUsed}, output ${toHex(result.output)}`
  const traced = await trace(node, requestWith(input.gas), block.number, pretended)
  if (traced !== undefined) return compare('trace', ours, traced)

  const ask = async (gases: readonly number[]) => {
    const calls = gases.map((gas) => encodeEthCall(requestWith(gas), block.number, pretended))
    return node.batch(calls)
  }
  if (!result.success) {
    const [answer] = await ask([input.gas])
    return compare('revert', toHex(result.output), describeAnswer(answer))
  }
  const least = smallestLimit(
    { floor: 0n, ceiling: BigInt(input.gas), guess: BigInt(result.gasUsed), tolerance: 1n },
    (gas) => {
      const outcome = execute(known, block, { ...input, gas: Number(gas) }, 'stop')
      return outcome.kind === 'done' && outcome.success
    },
  )
  const [enough, tooLittle] = await ask([Number(least), Number(least) - 1])
  const succeeds = (answer: NodeAnswer | undefined) => (answer?.ok ? 'enough' : 'too little')
  return compare(
    'threshold',
    `gas limit ${least} is enough, one less is too little`,
    `gas limit ${least} is ${succeeds(enough)}, one less is ${succeeds(tooLittle)}`,
  )
}

function compare(by: CheckedBy, ours: string, node: string): SelfCheck {
  return ours === node ? { agrees: true, by } : { agrees: false, by, ours, node }
}

function describeAnswer(answer: NodeAnswer | undefined): string {
  if (answer === undefined) return 'no answer'
  return answer.ok ? 'no revert' : (answer.error.revertData ?? answer.error.message)
}

/**
 * Gas and output by debug_traceCall, in the words of `ours`; undefined where it is not offered, or pretends no state
 * (Hardhat's node ignores `stateOverrides`): then it describes another call.
 */
async function trace(
  node: NodeClient,
  request: CallRequest,
  block: bigint,
  override: StateOverride,
): Promise<string | undefined> {
  const options = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } }
  const encode = (traced: CallRequest, stateOverrides: StateOverride) => {
    const [transaction] = encodeEthCall(traced, block).params
    const params = [transaction, blockParameter(block), { ...options, stateOverrides }]
    return { method: 'debug_traceCall', params }
  }
  const [answer, pretended] = await node.batch([
    encode(request, override),
    encode({ to: checkOperation.sender, data: '0x' }, checkOverride),
  ])
  if (!answer?.ok || !pretended?.ok || !hasOutput(pretended.result)) return undefined
  const { gasUsed, output = '0x' } = answer.result as { gasUsed: Hex; output?: Hex }
  return `gas ${Number(gasUsed)}, output ${output}`
}

/** Whether something ran at an address that has code only because a trace pretends it. */
function hasOutput(trace: unknown): boolean {
  const { output = '0x' } = trace as { output?: Hex }
  return output !== '0x'
}

/** The sender of the check: ASCII "purser check", no contract on any chain. */
const SENDER: Address = '0x000000000000000070757273657220636865636b'

/** Code that answers every call with 32 zero bytes: any operation is valid and its call succeeds. */
const CODE: Hex = '0x5f5f5260205ff3'

/**
 * An operation that needs nothing but the EntryPoint: it is free and its sender accepts everything. Its tip is above its
 * price, so that it takes the same gas at every base fee: geth shows 0 to a call that offers no price.
 */
export const checkOperation: Operation = {
  sender: SENDER,
  nonce: 0n,
  factory: undefined,
  factoryData: '0x',
  callData: '0x70757273',
  callGasLimit: 100_000n,
  verificationGasLimit: 200_000n,
  preVerificationGas: 50_000n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 1n,
  paymaster: undefined,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
  paymasterData: '0x',
  signature: '0x',
  authorization: undefined,
}

/** The state in which `checkOperation` succeeds. */
export const checkOverride: StateOverride = { [SENDER]: { code: CODE } }
