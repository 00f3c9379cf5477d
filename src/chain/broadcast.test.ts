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
  // geth's --rpc.txfeecap
  ['tx fee (1.60 ether) exceeds the configured cap (1.00 ether)', 'neutral'],
  // Hardhat's node, by its own words.
  ['Transaction gas limit is 33554432 and exceeds transaction gas cap of 16777216', 'terminal'],
  ['Transaction requires at least 53006 gas but got 21248', 'terminal'],
  ['Nonce too low. Expected nonce to be 1 but got 0.', 'settled'],
  ["Sender doesn't have enough funds to send tx. The max upfront cost is: 3", 'neutral'],
  ['Transaction maxFeePerGas (1) is too low for the next block, which has', 'neutral'],
  ['Nonce too high. Expected nonce to be 1 but got 64.', 'neutral'],
  ['something nobody has seen before', 'indeterminate'],
])('%s: %s', (message, kind) => {
  expect(classifyRefusal(message, '0x02f8').kind).toBe(kind)
})

test('a chain that knows no authorizations refuses the operations that bring them for good', () => {
  for (const reason of ['Invalid transaction type 4.', 'transaction type not supported'])
    expect(classifyRefusal(reason, '0x04f8').kind).toBe('terminal')
  expect(classifyRefusal('nonce too low', '0x04f8').kind).toBe('settled')
})
