import { preparedDecisions } from './preparedDecisions.js'
import type { PreparedFailure } from './preparedFailure.js'
import { preparedOperations } from './preparedOperations.js'
import { preparedRefusals } from './preparedRefusals.js'

/** The 20 failures that a developer or an operator asks about most, each prepared on a running service. */
export const preparedFailures: readonly PreparedFailure[] = [
  ...preparedRefusals,
  ...preparedDecisions,
  ...preparedOperations,
]
