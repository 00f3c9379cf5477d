import { encodeClassicSponsorship } from '../dialects/classic.js'
import { partialOperation } from '../dialects/decode/operation.js'
import {
  context,
  inferEntryPoint,
  modeOrEntryPoint,
  withOperation,
} from '../dialects/decode/paymasterRequest.js'
import { encodeStandardSponsorship } from '../dialects/standard.js'
import { exampleOperationJson, exampleSponsorship } from './examples.js'
import { refusalOf, requestPaymaster } from './getPaymasterData.js'
import { classicSponsorship, standardSponsorship } from '../openRpc/results.js'
import { method, simulationErrors } from './method.js'

/**
 * [operation, mode], or [operation, entryPoint, context] as the clients of other services have it,
 * who can so name one of several EntryPoints. They know no result that is a refusal.
 */
export const sponsorUserOperation = method({
  name: 'pm_sponsorUserOperation',
  summary: 'Paymaster data, signed by a tank that sponsors the gas or charges tokens.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: { operation: partialOperation, modeOrEntryPoint, context },
  errors: simulationErrors,
  decode: ({ operation, modeOrEntryPoint, context }, chain) =>
    'mode' in modeOrEntryPoint
      ? withOperation(modeOrEntryPoint, operation, inferEntryPoint(operation, chain), 'result')
      : withOperation(context, operation, modeOrEntryPoint, 'error'),
  run: requestPaymaster,
  refusal: refusalOf,
  result: { classic: classicSponsorship, standard: standardSponsorship },
  encode: { classic: encodeClassicSponsorship, standard: encodeStandardSponsorship },
  example: {
    params: [
      exampleOperationJson,
      { mode: 'SPONSORED', calculateGasLimits: true, expiryDuration: 300 },
    ],
    outcome: exampleSponsorship,
  },
})
