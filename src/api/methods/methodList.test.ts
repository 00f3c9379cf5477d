import { describe, expect, test } from 'vitest'
import { rpcMethods } from '../../admin/rpcMethods.js'
import { createEntryPoint } from '../../entrypoint/createEntryPoint.js'
import { errorCodes } from '../../errors/errorCodes.js'
import { type DialectName, dialectNames } from '../dialects/dialect.js'
import {
  EXAMPLE_CHAIN_ID,
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_HASH,
  exampleOperation,
  exampleOperationJson,
} from './examples/examples.js'
import { commonErrors } from './methodErrors.js'
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
  expect(rpcMethods).toEqual(methodNames)
})

describe.each(methodNames)('%s', (name: MethodName) => {
  const { params, errors, example, decode } = methods[name]

  test('has an example whose parameters it decodes', () => {
    expect(() => decode(example.params, chain)).not.toThrow()
    const required = params.filter((param) => !param.endsWith('?')).length
    expect(example.params.length).toBeGreaterThanOrEqual(required)
    expect(example.params.length).toBeLessThanOrEqual(params.length)
    if (required > 0) expect(() => decode([], chain)).toThrow(/^params\[\d\]/)
  })

  test.each(dialectNames)('has an example whose result its %s encoder makes', (dialect) => {
    const json = JSON.parse(JSON.stringify(encodeExample(name, dialect)))
    expect(json).toEqual(example.result[dialect])
  })

  test('names error codes of its own beside those of all methods', () => {
    for (const code of errors) {
      expect(errorCodes).toHaveProperty(String(code))
      expect(commonErrors).not.toContain(code)
    }
  })
})

function encodeExample<Name extends MethodName>(name: Name, dialect: DialectName): unknown {
  const method = methods[name]
  return method.encode[dialect](method.example.outcome)
}

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
