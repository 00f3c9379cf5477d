import { expect, test } from 'vitest'
import { NodeRpcError } from './nodeErrors.js'

test.each([
  ['the string itself (geth, anvil, reth)', 'execution reverted', '0xAB12', '0xab12'],
  ['data.data', 'reverted', { data: '0xab12' }, '0xab12'],
  ['data.originalError.data', 'reverted', { originalError: { code: 3, data: '0xab12' } }, '0xab12'],
  ['Reverted 0x… as data (Parity)', 'VM execution error.', 'Reverted 0xab12', '0xab12'],
  ['Reverted 0x… in the message', 'VM Exception: Reverted 0xab12', undefined, '0xab12'],
  ['an empty revert', 'execution reverted', '0x', '0x'],
  ['no data', 'execution reverted', undefined, undefined],
  ['half a byte is no data', 'execution reverted', '0xabc', undefined],
  ['a text that is no data', 'nope', 'some text', undefined],
])('revert data is found in %s', (_, message, data, expected) => {
  expect(new NodeRpcError(-32000, message, data).revertData).toBe(expected)
})
