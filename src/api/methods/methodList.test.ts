import { describe, expect, test } from 'vitest'
import { errorCodes } from '../../base/errors/catalogue.js'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import {
  EXAMPLE_CHAIN_ID,
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_HASH,
  exampleOperation,
  exampleOperationJson,
} from './examples.js'
import { commonErrors } from './method.js'
import { isMethodName, type MethodName, methodNames, methods } from './methodList.js'

const entryPoint = createEntryPoint('0.7', EXAMPLE_ENTRY_POINT)
const chain = {
  chainId: EXAMPLE_CHAIN_ID,
  entryPoints: new Map([[entryPoint.address, entryPoint]]),
}

test('every name is there once and finds its method', () => {
  expect(new Set(methodNames).size).toBe(methodNames.length)
  for (const name of methodNames) expect(methods[name].name).toBe(name)
  expect(isMethodName('constructor')).toBe(false)
  expect([...methodNames].sort()).toEqual(Object.keys(methods).sort())
})

describe.each(methodNames)('%s', (name: MethodName) => {
  const { inputs, errors, example, decode } = methods[name]

  test('has an example whose parameters it decodes', () => {
    expect(() => decode(example.params, chain)).not.toThrow()
    const required = inputs.filter(({ isOptional }) => !isOptional).length
    expect(example.params.length).toBeGreaterThanOrEqual(required)
    expect(example.params.length).toBeLessThanOrEqual(inputs.length)
    if (required > 0) expect(() => decode([], chain)).toThrow(/^params\[\d\]/)
  })

  test('names error codes of its own in addition to those of all methods', () => {
    for (const code of errors) {
      expect(errorCodes).toHaveProperty(String(code))
      expect(commonErrors).not.toContain(code)
    }
  })
})

test('the operation of the examples has the hash of the examples', () => {
  const { operation } = methods.eth_sendUserOperation.decode(
    [exampleOperationJson, EXAMPLE_ENTRY_POINT],
    chain,
  )
  expect(operation).toEqual(exampleOperation)
  expect(entryPoint.hash(operation, EXAMPLE_CHAIN_ID)).toBe(EXAMPLE_HASH)
})

test('debug methods are those of the debug scope, and no others', () => {
  for (const name of methodNames)
    expect(methods[name].scope === 'debug').toBe(name.startsWith('debug_'))
})
