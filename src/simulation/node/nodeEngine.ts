import type { Address, Hex } from 'viem'
import type { StateOverride } from '../../chain/ethCall.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { getCode } from '../../chain/nodeReads.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { splitValidationData } from '../../erc4337/validationData.js'
import type { Engine } from '../engine.js'
import { mergeOverrides } from '../evmOverrides.js'
import type { Extent } from '../inProcess/observeOperation.js'
import { stakesOn } from '../inProcess/observeRecord.js'
import { refusal, validationOf } from '../inProcess/simulatedOperation.js'
import { stateFor } from '../inProcess/simulateOperation.js'
import { smallestLimitLater } from '../inProcess/smallestLimit.js'
import { type MeasuredRun, measureSteps, withLimits } from '../measureSteps.js'
import { aggregated, postOpReverted } from '../operationFailure.js'
import { fundsOn } from '../payerFunds.js'
import { stateBefore } from '../stateBefore.js'
import { type Tracing, validateByTrace } from '../trace/validateByTrace.js'
import { readEntities } from './entityState.js'
import { type ProbedOperation, runProbe } from './probe.js'

type NodeEngineContext = {
  readonly node: NodeClient
  /** Absent where the node does not trace calls, or nobody knows the rules of its chain. */
  readonly tracing?: Tracing | undefined
}

/**
 * An engine that runs operations of any EntryPoint on the node, for chains that our EVM does not know. It needs no more
 * than eth_call with state overrides: the EntryPoint's own code runs there, see contracts/Probe.sol. Validations are
 * traced where the node can, so that all rules can be checked; else only their result counts. Gas limits take an eth_call for each
 * trial.
 */
export function createNodeEngine({ node, tracing }: NodeEngineContext): Engine {
  const codes = new Map<Address, Promise<Hex>>()

  /** An EntryPoint's code never changes. */
  function codeOf(address: Address): Promise<Hex> {
    const known = codes.get(address)
    if (known) return known
    const code = readCode(node, address)
    codes.set(address, code)
    code.catch(() => codes.delete(address))
    return code
  }

  /** `op` on the newest block, and the state of those that it names. */
  async function open(entryPoint: EntryPoint, op: Operation, override: StateOverride = {}) {
    const code = await codeOf(entryPoint.address)
    const head = await node.head()
    const known = await readEntities({ node, entryPoint, op }, new Set(), head, head.number)
    const probed: ProbedOperation = { node, entryPoint, code, op, block: head.number, override }
    return { known, state: stateFor(known, op, override), probed }
  }

  return {
    async validate(entryPoint, op, override) {
      if (tracing) return validateByTrace(tracing, entryPoint, op, override)
      const { known, state, probed } = await open(entryPoint, op, override)
      const { observed, output } = await runProbe(probed, 'validation')
      const { accountData, validated } = observed
      if (validated === undefined)
        return { ok: false, failure: refusal(entryPoint, op, output, state) }
      const { authorizer } = splitValidationData(accountData ?? 0n)
      if (BigInt(authorizer) > 1n) return { ok: false, failure: aggregated(authorizer) }
      const validation = {
        ...validationOf(entryPoint, observed, validated, op),
        before: stateBefore(known, entryPoint, op),
        observed: {
          kind: 'resultOnly',
          stakes: stakesOn(state, entryPoint, op),
          contextSize: validated.contextSize,
        } as const,
      }
      return { ok: true, validation }
    },

    async execute(entryPoint, op, override) {
      const { state, probed } = await open(entryPoint, op, override)
      const { observed, output } = await runProbe(probed, 'execution')
      const { validated, call, postOp } = observed
      if (validated === undefined)
        return { ok: false, failure: refusal(entryPoint, op, output, state) }
      if (postOp?.success === false && !entryPoint.hasPaymasterLimits)
        return { ok: false, failure: postOpReverted(postOp.revertData) }
      const failed = [call, postOp].find((end) => end?.success === false)
      const validation = validationOf(entryPoint, observed, validated, op)
      return {
        ok: true,
        validation,
        success: failed === undefined,
        revertData: failed?.revertData ?? '0x',
      }
    },

    async measure(entryPoint, op, bounds, override = {}) {
      const { known, state, probed } = await open(entryPoint, op, override)
      const funds = fundsOn(known, entryPoint, op)
      if (funds.kind === 'missing') throw new Error('the state of the sender was read')
      const pretended = { ...probed, override: mergeOverrides(funds.override, override) }
      const run = (limits: Parameters<typeof withLimits>[2], extent: Extent) =>
        runProbe({ ...pretended, op: withLimits(entryPoint, op, limits) }, extent)
      const refuse = (output: Uint8Array) => refusal(entryPoint, op, output, state)
      const steps = measureSteps({ entryPoint, op, refuse }, bounds)
      let step = steps.next()
      while (step.done !== true) {
        const { value } = step
        const answer: MeasuredRun | bigint =
          value.kind === 'run'
            ? await run(value.limits, value.extent)
            : await smallestLimitLater(value, async (limit) =>
                value.suffices((await run(value.limitsAt(limit), value.extent)).observed, limit),
              )
        step = steps.next(answer)
      }
      const measured = step.value
      if (measured.outcome !== 'measured') return measured
      return { ...measured, gas: { ...measured.gas, before: stateBefore(known, entryPoint, op) } }
    },
  }
}

async function readCode(node: NodeClient, address: Address): Promise<Hex> {
  const code = await getCode(node, address)
  if (code === '0x') throw new NodeUnavailableError(`no EntryPoint is deployed at ${address}`)
  return code
}
