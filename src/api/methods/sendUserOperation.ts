import { entryPoint } from '../dialects/decode/entryPoint.js'
import { decodeOperation, operation } from '../dialects/decode/operation.js'
import { objectOf, oneOf, optional } from '../dialects/decode/values.js'
import { word } from '../openRpc/parts.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_HASH, exampleOperationJson } from './examples.js'
import { admissionErrors, method } from './method.js'

const options = objectOf({
  simulation_type: optional(oneOf('validation', 'validation_and_execution')),
})

/** Sending is idempotent: clients retry it, and a known operation gives its hash again. */
export const sendUserOperation = method({
  name: 'eth_sendUserOperation',
  summary: 'Adds the operation to the pool; returns its userOpHash after it is stored.',
  scope: 'bundler',
  cost: 5,
  simulates: true,
  params: { operation, entryPoint, options: optional(options) },
  errors: admissionErrors,
  decode: ({ operation, entryPoint, options }) => ({
    entryPoint,
    operation: decodeOperation(operation, 'params[0]', entryPoint.version),
    simulateExecution: options?.simulation_type === 'validation_and_execution',
  }),
  run: ({ entryPoint, operation, simulateExecution }, { chain, appId, keyId, requester }) =>
    chain.admit(entryPoint, operation, { appId, keyId, requester, simulateExecution }),
  result: word,
  example: {
    params: [
      exampleOperationJson,
      EXAMPLE_ENTRY_POINT,
      { simulation_type: 'validation_and_execution' },
    ],
    outcome: EXAMPLE_HASH,
  },
})
