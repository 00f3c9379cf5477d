import { expect, test } from 'vitest'
import { classifyRefusal } from './broadcast.js'

test.each([
  ['already known', 'sent'],
  ['transaction already imported', 'sent'],
  ['known transaction: 0x12', 'sent'],
  ['nonce too low: next nonce 5, tx nonce 4', 'settled'],
  ['nonce too low', 'settled'],
  ['intrinsic gas too low', 'refused'],
  ['exceeds block gas limit', 'refused'],
  ['transaction type not supported', 'unknown'],
  ['invalid chain id for signer', 'unknown'],
  ['replacement transaction underpriced', 'unknown'],
  ['transaction underpriced', 'unknown'],
  ['insufficient funds for gas * price + value', 'unknown'],
  ['max fee per gas less than block base fee', 'unknown'],
  ['txpool is full', 'unknown'],
  ['something nobody has seen before', 'unknown'],
])('%s: %s', (message, kind) => {
  expect(classifyRefusal(message).kind).toBe(kind)
})
