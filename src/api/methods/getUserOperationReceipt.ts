import { encodeClassicReceipt } from '../dialects/classic/classicReceipt.js'
import { decodeHashParams } from '../dialects/decode/hashParams.js'
import { encodeStandardReceipt } from '../dialects/standard/standardReceipt.js'
import {
  exampleClassicReceipt,
  exampleReceipt,
  exampleStandardReceipt,
} from './examples/exampleReceipt.js'
import { EXAMPLE_HASH } from './examples/examples.js'
import { method } from './method.js'

/** No receipt is a result too: clients poll, and an error would end their wait. */
export const getUserOperationReceipt = method({
  name: 'eth_getUserOperationReceipt',
  summary: 'The receipt of an included operation, else null.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: ['userOpHash'],
  errors: [],
  decode: decodeHashParams,
  run: ({ hash }, { chain }) => chain.receipt(hash),
  encode: {
    classic: (receipt) => (receipt ? encodeClassicReceipt(receipt) : null),
    standard: (receipt) => (receipt ? encodeStandardReceipt(receipt) : null),
  },
  example: {
    params: [EXAMPLE_HASH],
    outcome: exampleReceipt,
    result: { classic: exampleClassicReceipt, standard: exampleStandardReceipt },
  },
})
