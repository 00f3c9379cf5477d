/**
 * The gas of a running frame, or of a transaction before and after its first one. Before Amsterdam only `gas`
 * is used. From EIP-8037 on, state gas is taken from the reservoir first, which GAS does not show, and from
 * `gas` when that is empty.
 */
export type GasBudget = {
  gas: number
  reservoir: number
  /** State gas that came out of `gas`: the first that a refund of state gas pays back. */
  spilled: number
}

/** Takes state gas. False when there is not enough. */
export function chargeState(budget: GasBudget, amount: number): boolean {
  const spill = Math.max(0, amount - budget.reservoir)
  budget.reservoir -= amount - spill
  budget.gas -= spill
  budget.spilled += spill
  return budget.gas >= 0
}

/** Gives back state gas for state that does not grow after all. */
export function refundState(budget: GasBudget, amount: number): void {
  budget.reservoir += amount
  repay(budget)
}

/** Takes over what a frame has left that `budget` paid for. */
export function absorb(budget: GasBudget, left: GasBudget): void {
  budget.gas += left.gas
  budget.reservoir = left.reservoir
  budget.spilled += left.spilled
  repay(budget)
}

function repay(budget: GasBudget): void {
  const paid = Math.min(budget.reservoir, budget.spilled)
  budget.gas += paid
  budget.reservoir -= paid
  budget.spilled -= paid
}
