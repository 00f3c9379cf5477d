import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  arbitraryDelegatedOperation,
  arbitraryOperation,
} from '../../test/support/operations/arbitraryOperation.js'
import type { Operation } from '../erc4337/operation.js'
import { operationDocument, storedOperation } from './storedOperation.js'

test('an operation comes back from its document exactly, whatever it leaves out', () => {
  const operation = fc.oneof(
    arbitraryOperation('0.6'),
    arbitraryOperation('0.7'),
    arbitraryDelegatedOperation,
  )
  fc.assert(
    fc.property(operation, (op) => {
      expect(storedOperation(JSON.parse(operationDocument(op)))).toEqual(op)
    }),
  )
})

test('members that most operations leave empty are not stored', () => {
  const [sample] = fc.sample(arbitraryOperation('0.7'), { numRuns: 1, seed: 1 })
  const op: Operation = {
    ...sample!,
    factory: undefined,
    factoryData: '0x',
    paymaster: undefined,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: '0x',
  }
  const document: unknown = JSON.parse(operationDocument(op))
  expect(Object.keys(document as object).sort()).toEqual([
    ...['callData', 'callGasLimit', 'maxFeePerGas', 'maxPriorityFeePerGas', 'nonce'],
    ...['preVerificationGas', 'sender', 'signature', 'verificationGasLimit'],
  ])
})
