import type { Address, Hex } from 'viem'
import { size } from 'viem/utils'
import { ethCall } from '../../chain/ethCall.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { getCode } from '../../chain/nodeReads.js'
import type { StateOverride } from '../../chain/stateOverride.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import {
  decodeSimulation,
  encodeSimulateHandleOp,
  encodeSimulateValidation,
  type Simulated,
} from '../../entrypoint/simulationV06.js'
import type { Engine } from '../engine.js'
import { mergeOverrides } from '../mergeOverrides.js'
import { aggregated, unexplained } from '../refusals.js'
import { fundsAtNode } from './fundsAtNode.js'
import { measure } from './measureV06.js'
import { decodeOutcome, outcomeCall, placeProbe } from './probeV06.js'

const BENEFICIARY: Address = '0x0000000000000000000000000000000000000001'

/**
 * An engine that runs operations of EntryPoint v0.6 by eth_call on any node that knows state overrides,
 * without debug or trace methods. One request each; one more for a validation with a wrong signature, to
 * learn whether it is the account's, and for a measurement with a paymaster, to learn its context's size. The EntryPoint's code is read once.
 */
export function createNodeEngine({ node }: { readonly node: NodeClient }): Engine {
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

  /** `override` with the probe in place of the EntryPoint. */
  async function withProbe(address: Address, override?: StateOverride): Promise<StateOverride> {
    return placeProbe(address, override?.[address]?.code ?? (await codeOf(address)), override)
  }

  /** Runs a simulation of v0.6, which always ends in a revert. */
  async function simulate(address: Address, data: Hex, override?: StateOverride) {
    const outcome = await ethCall(node, { to: address, data }, 'latest', override)
    if (outcome.ok) throw new Error(`no EntryPoint v0.6 answers at ${address}`)
    return decodeSimulation(outcome.revertData) ?? refused(outcome.revertData)
  }

  return {
    async validate(entryPoint, op, override) {
      requireV06(entryPoint)
      const data = encodeSimulateValidation(op)
      const simulated = await simulate(entryPoint.address, data, override)
      if (simulated.kind === 'failure') return { ok: false, failure: simulated.failure }
      if (simulated.kind !== 'validation')
        throw new Error('simulateValidation answered an execution')
      if (simulated.aggregator)
        return { ok: false, failure: aggregated(simulated.aggregator.address) }
      const signer = simulated.signatureFailed
        ? await refusedSignature(node, entryPoint, op, override)
        : undefined
      const contextSize = size(simulated.paymasterContext)
      return {
        ok: true,
        validation: {
          accountSignatureFailed: signer === 'account',
          paymasterSignatureFailed: signer === 'paymaster',
          validAfter: simulated.validAfter,
          validUntil: simulated.validUntil,
          blocks: { after: 0n, until: 0n },
          verificationGasUsed: simulated.preOpGas - op.preVerificationGas,
          contextSize,
          prefund: simulated.prefund,
          observed: {
            kind: 'outline',
            stakes: {
              account: simulated.sender,
              factory: simulated.factory,
              paymaster: simulated.paymaster,
            },
            contextSize,
          },
        },
      }
    },

    async execute(entryPoint, op, override) {
      requireV06(entryPoint)
      const { address } = entryPoint
      const data = encodeSimulateHandleOp(op, address, outcomeCall)
      const simulated = await simulate(address, data, await withProbe(address, override))
      if (simulated.kind === 'failure') return { ok: false, failure: simulated.failure }
      if (simulated.kind !== 'execution') throw new Error('simulateHandleOp answered a validation')
      return {
        ok: true,
        validation: {
          validAfter: simulated.validAfter,
          validUntil: simulated.validUntil,
          verificationGasUsed: simulated.preOpGas - op.preVerificationGas,
        },
        ...decodeOutcome(simulated.targetResult),
      }
    },

    async measure(entryPoint, op, bounds, override) {
      requireV06(entryPoint)
      const { address } = entryPoint
      const funds = await fundsAtNode(node, entryPoint, op)
      const pretended = override ? mergeOverrides(funds, override) : funds
      const measured = await measure(node, address, op, bounds, await withProbe(address, pretended))
      if (op.paymaster === undefined || measured.outcome !== 'measured') return measured
      const { callGasLimit, verificationGasLimit } = measured.gas
      const data = encodeSimulateValidation({ ...op, callGasLimit, verificationGasLimit })
      const simulated = await simulate(address, data, pretended)
      if (simulated.kind === 'failure') return { outcome: 'refused', failure: simulated.failure }
      if (simulated.kind !== 'validation')
        throw new Error('simulateValidation answered an execution')
      const contextSize = size(simulated.paymasterContext)
      return { ...measured, gas: { ...measured.gas, contextSize } }
    },
  }
}

function requireV06(entryPoint: EntryPoint): void {
  if (entryPoint.hasSimulations) return
  throw new Error(`EntryPoint v${entryPoint.version} cannot be simulated on a node; only v0.6 can`)
}

async function readCode(node: NodeClient, address: Address): Promise<Hex> {
  const code = await getCode(node, address)
  if (code === '0x') throw new NodeUnavailableError(`no EntryPoint is deployed at ${address}`)
  return code
}

/** The party whose signature is wrong: handleOps checks the account's first, then the paymaster's. */
async function refusedSignature(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
  override: StateOverride | undefined,
): Promise<'account' | 'paymaster'> {
  const data = entryPoint.encodeHandleOps([op], BENEFICIARY)
  const outcome = await ethCall(node, { to: entryPoint.address, data }, 'latest', override)
  const failure = outcome.ok ? undefined : entryPoint.decodeFailure(outcome.revertData)
  return failure?.code === 'AA34' ? 'paymaster' : 'account'
}

function refused(revertData: Hex): Simulated {
  return { kind: 'failure', failure: unexplained(revertData) }
}
