import { InvalidParamsError } from '../../errors/requestErrors.js'
import { decodeEntryPoint } from '../dialects/decode/entryPoint.js'
import { decodeObject, member } from '../dialects/decode/members.js'
import { decodeOperation } from '../dialects/decode/operation.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_HASH, exampleOperationJson } from './examples/examples.js'
import { method } from './method.js'
import { admissionErrors } from './methodErrors.js'

/** Sending is idempotent: clients retry it, and a known operation gives its hash again. */
export const sendUserOperation = method({
  name: 'eth_sendUserOperation',
  summary: 'Takes the operation into the pool; its userOpHash after it is stored.',
  scope: 'bundler',
  cost: 5,
  simulates: true,
  params: ['operation', 'entryPoint', 'options?'],
  errors: admissionErrors,
  decode: ([operation, address, options], chain) => {
    const entryPoint = decodeEntryPoint(address, 'params[1]', chain)
    return {
      entryPoint,
      operation: decodeOperation(operation, 'params[0]', entryPoint.version),
      simulateExecution: decodeSimulationType(options, 'params[2]') === 'validation_and_execution',
    }
  },
  run: ({ entryPoint, operation, simulateExecution }, { chain, appId, keyId }) =>
    chain.admit(entryPoint, operation, { appId, keyId, simulateExecution }),
  encode: { both: (hash) => hash },
  example: {
    params: [
      exampleOperationJson,
      EXAMPLE_ENTRY_POINT,
      { simulation_type: 'validation_and_execution' },
    ],
    outcome: EXAMPLE_HASH,
    result: { both: EXAMPLE_HASH },
  },
})

function decodeSimulationType(value: unknown, field: string): string {
  if (value === undefined || value === null) return 'validation'
  const type = member(decodeObject(value, field), 'simulation_type') ?? 'validation'
  if (type !== 'validation' && type !== 'validation_and_execution')
    throw new InvalidParamsError(
      `${field}.simulation_type`,
      'must be "validation" or "validation_and_execution".',
    )
  return type
}
