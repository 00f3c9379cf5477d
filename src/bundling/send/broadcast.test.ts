import { expect, test } from 'vitest'
import { classifyRefusal } from './broadcast.js'

test.each([
  ['already known', 'sent'],
  ['transaction already imported', 'sent'],
  ['known transaction: 0x12', 'sent'],
  ['nonce too low: next nonce 5, tx nonce 4', 'settled'],
  ['nonce too low', 'settled'],
  ['intrinsic gas too low', 'terminal'],
  ['exceeds block gas limit', 'terminal'],
  ['transaction type not supported', 'neutral'],
  ['invalid chain id for signer', 'neutral'],
  ['replacement transaction underpriced', 'neutral'],
  ['transaction underpriced', 'neutral'],
  ['insufficient funds for gas * price + value', 'neutral'],
  ['max fee per gas less than block base fee', 'neutral'],
  ['txpool is full', 'neutral'],
  ['nonce too high', 'neutral'],
  ['rate limit exceeded', 'neutral'],
  ['something nobody has seen before', 'indeterminate'],
])('%s: %s', (message, kind) => {
  expect(classifyRefusal(message).kind).toBe(kind)
})
