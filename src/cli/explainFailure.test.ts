import { expect, test } from 'vitest'
import { NodeRpcError, NodeUnavailableError } from '../chain/nodeErrors.js'
import { DevChainError } from '../devnet/devChainError.js'
import { ConfigError } from '../errors/configError.js'
import { ListenError } from '../errors/listenError.js'
import { ServiceLockLostError } from '../errors/serviceLockLostError.js'
import { TankError } from '../errors/tankErrors.js'
import { explainFailure } from './explainFailure.js'

test.each([
  new ConfigError('Do this.'),
  new DevChainError('Do this.'),
  new TankError('Do this.'),
  new ServiceLockLostError(),
  new NodeUnavailableError('eth_call'),
  new ListenError('127.0.0.1', 1, Object.assign(new Error('x'), { code: 'EACCES' })),
])('an expected failure speaks for itself: $name', (error) => {
  expect(explainFailure(error)).toBe(error.message)
})

test('what a node refuses is told as its own words', () => {
  expect(explainFailure(new NodeRpcError(-32000, 'insufficient funds', undefined))).toBe(
    "The chain's node refused: insufficient funds",
  )
})

test('anything else is one line without a stack', () => {
  expect(explainFailure(new TypeError('x is not a function\n    at y'))).toBe(
    'Purser stopped: x is not a function',
  )
  expect(explainFailure('text')).toBe('Purser stopped: text')
})
