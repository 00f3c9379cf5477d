import type { ErrorCode } from '../../errors/errorCodes.js'

/** Every method can answer them: they concern the request, the key, the chain or the service. */
export const commonErrors: readonly ErrorCode[] = [
  -32700, -32600, -32601, -32602, -32603, -32001, -32005,
]

/** The errors of an operation that is run to measure or check it. */
export const simulationErrors: readonly ErrorCode[] = [-32500, -32501, -32503, -32507, -32521]

/** The errors of an operation that asks to be taken into the pool. */
export const admissionErrors: readonly ErrorCode[] = [
  ...simulationErrors,
  -32502,
  -32504,
  -32505,
  -32508,
  -32006,
  -32007,
]

/** The errors of a paymaster that refuses, or finds that the operation would fail whoever pays. */
export const paymasterErrors = simulationErrors
