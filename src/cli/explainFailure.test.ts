import { expect, test } from 'vitest'
import { ConfigError } from '../base/errors/configError.js'
import { ListenError, ServiceLockLostError } from '../base/errors/processErrors.js'
import { TankError } from '../base/errors/sponsorshipErrors.js'
import { NodeRpcError, NodeUnavailableError } from '../chain/nodeErrors.js'
import { DevChainError } from './devnet/devChainError.js'
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

test('a refusal of a node is shown in its own words', () => {
  expect(explainFailure(new NodeRpcError(-32000, 'insufficient funds', undefined))).toBe(
    "The chain's node refused: insufficient funds",
  )
})

test('a full disk is said in words', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
  })
  expect(explainFailure(full)).toMatch(/the disk of its data folder is full/)
})

test('anything else is one line without a stack', () => {
  expect(explainFailure(new TypeError('x is not a function\n    at y'))).toBe(
    'Purser stopped: x is not a function',
  )
  expect(explainFailure('text')).toBe('Purser stopped: text')
})
