import { LIGHT_STEPS, type Simulation } from './simulateOperation.js'
import { takeTurn, type Weight } from './turns.js'

/** Runs a simulation of at most `most` steps when its turn comes. */
export type Runner = (
  most: number,
  simulate: (maxSteps: number) => Simulation,
) => Promise<Simulation>

/**
 * A runner for the runs of one operation. Each is tried as a light one; after one that needs more steps
 * than a light run may take, it and all later ones are heavy (see `takeTurn`).
 */
export function createRunner(first: Weight): Runner {
  let weight = first
  return async (most, simulate) => {
    if (weight === 'light') {
      const lightSteps = Math.min(LIGHT_STEPS, most)
      const light = await takeTurn('light', () => simulate(lightSteps))
      if (most <= LIGHT_STEPS || !ranOutOfSteps(light)) return light
      weight = 'heavy'
    }
    return takeTurn('heavy', () => simulate(most))
  }
}

function ranOutOfSteps({ outcome }: Simulation): boolean {
  return outcome.kind === 'exhausted' && outcome.reason === 'steps'
}
