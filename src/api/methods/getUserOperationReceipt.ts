import { encodeClassicReceipt } from '../dialects/classic/classicReceipt.js'
import { decodeReceiptParams } from '../dialects/decode/receiptParams.js'
import { encodeStandardReceipt } from '../dialects/standard/standardReceipt.js'
import {
  exampleClassicReceipt,
  exampleReceipt,
  exampleStandardReceipt,
} from './examples/exampleReceipt.js'
import { EXAMPLE_HASH } from './examples/examples.js'
import { method } from './method.js'

/**
 * No receipt is a result too: clients poll, and an error would end their wait. What is only promised is told to those
 * who ask for it: a client takes any receipt as final.
 */
export const getUserOperationReceipt = method({
  name: 'eth_getUserOperationReceipt',
  summary: 'The receipt of an included operation, else null.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: ['userOpHash', 'tag?'],
  errors: [],
  decode: decodeReceiptParams,
  run: async ({ hash, tag }, { chain }) =>
    (await chain.receipt(hash)) ?? (tag === 'pending' ? chain.preconfirmed(hash) : undefined),
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
