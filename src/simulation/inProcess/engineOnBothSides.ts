import { greatest, smallest } from '../../base/bigints.js'
import type { StateProvider } from '../../chain/stateProvider.js'
import type { Engine, GasMeasurement, Inspecting } from '../engine.js'
import type { RunParty } from '../simulations.js'
import { createEngineOn, createInProcessEngine } from './inProcessEngine.js'

/**
 * Our EVM by the rules of now, and while a fork is near by those as well: an operation must be valid on both sides, and
 * its limits are enough for both.
 */
export function engineOnBothSides(state: StateProvider, party: RunParty): Engine & Inspecting {
  const { simulations, requester } = party
  const now = createInProcessEngine({ state, simulations, requester })
  const then = () => createEngineOn(state.withComingRules, party)
  return {
    execute: now.execute,
    inspect: now.inspect,
    witness: now.witness,
    async validate(...request) {
      const result = await now.validate(...request)
      if (!result.ok || state.forks().length === 1) return result
      const later = await then().validate(...request)
      if (!later.ok) return later
      const used = greatest(
        result.validation.verificationGasUsed,
        later.validation.verificationGasUsed,
      )
      return { ok: true, validation: { ...result.validation, verificationGasUsed: used } }
    },
    async measure(...request) {
      const result = await now.measure(...request)
      if (result.outcome !== 'measured' || state.forks().length === 1) return result
      const later = await then().measure(...request)
      if (later.outcome !== 'measured') return later
      return { outcome: 'measured', gas: enoughForBoth(result.gas, later.gas) }
    },
  }
}

function enoughForBoth(one: GasMeasurement, other: GasMeasurement): GasMeasurement {
  const most = (field: keyof GasMeasurement & `${string}Limit`) =>
    greatest(one[field], other[field])
  return {
    ...one,
    callGasLimit: most('callGasLimit'),
    verificationGasLimit: most('verificationGasLimit'),
    paymasterVerificationGasLimit: most('paymasterVerificationGasLimit'),
    postOpGasLimit: most('postOpGasLimit'),
    // What is sure to be paid for.
    verificationGasUsed: smallest(one.verificationGasUsed, other.verificationGasUsed),
  }
}
