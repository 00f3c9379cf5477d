import { encodeClassicSponsorship } from '../dialects/classic/classicSponsorship.js'
import { decodeEntryPoint } from '../dialects/decode/entryPoint.js'
import { decodeContext, decodeMode } from '../dialects/decode/mode.js'
import { inferEntryPoint, withOperation } from '../dialects/decode/paymasterRequest.js'
import { encodeStandardSponsorship } from '../dialects/standard/standardSponsorship.js'
import {
  exampleClassicSponsorship,
  exampleSponsorship,
  exampleStandardSponsorship,
} from './examples/exampleSponsorship.js'
import { exampleOperationJson } from './examples/examples.js'
import { method } from './method.js'
import { paymasterErrors } from './methodErrors.js'
import { refusalOf, requestPaymaster } from './requestPaymaster.js'

/**
 * [operation, mode], or [operation, entryPoint, context] as the clients of other services have it,
 * who can so name one of several EntryPoints. They know no result that is a refusal.
 */
export const sponsorUserOperation = method({
  name: 'pm_sponsorUserOperation',
  summary: 'Paymaster data, signed by a tank that gives the gas or takes tokens for it.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: ['operation', 'modeOrEntryPoint', 'context?'],
  errors: paymasterErrors,
  decode: ([operation, second, third], chain) =>
    isHex(second)
      ? withOperation(
          decodeContext(third, 'params[2]'),
          operation,
          decodeEntryPoint(second, 'params[1]', chain),
          'error',
        )
      : withOperation(
          decodeMode(second, 'params[1]'),
          operation,
          inferEntryPoint(operation, chain),
          'result',
        ),
  run: requestPaymaster,
  refusal: refusalOf,
  encode: { classic: encodeClassicSponsorship, standard: encodeStandardSponsorship },
  example: {
    params: [
      exampleOperationJson,
      { mode: 'SPONSORED', calculateGasLimits: true, expiryDuration: 300 },
    ],
    outcome: exampleSponsorship,
    result: { classic: exampleClassicSponsorship, standard: exampleStandardSponsorship },
  },
})

function isHex(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('0x')
}
