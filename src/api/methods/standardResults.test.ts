import { expect, test } from 'vitest'
import { address, operation, receipt, word } from '../../../test/support/http/apiFixtures.js'
import { FeeTooLowError } from '../../base/errors/operationErrors.js'
import { joinPaymasterSignature } from '../../erc4337/paymasterSignature.js'
import { standard } from '../dialects/dialect.js'
import { methods } from './methodList.js'

const checksummed = '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789'
const decision = { decisionId: 'd', sponsored: true, code: 'sponsored', message: 'Yes.' }
const sponsored = {
  ...operation,
  paymaster: address('7'),
  paymasterData: '0xabcd' as const,
  paymasterVerificationGasLimit: 30_000n,
}

test('quantities are hex and the EntryPoints checksummed', () => {
  expect(methods.eth_chainId.encode.standard(31_337)).toBe('0x7a69')
  expect(methods.eth_supportedEntryPoints.encode.standard([receipt.entryPoint])).toEqual([
    checksummed,
  ])
})

test('an estimate is hex, without bounds, with paymaster limits where there is one', () => {
  const estimate = {
    callGasLimit: 100_000n,
    verificationGasLimit: 70_000n,
    preVerificationGas: 50_000n,
    paymasterVerificationGasLimit: 30_000n,
    paymasterPostOpGasLimit: 0n,
    maxFeePerGas: 7n,
    maxPriorityFeePerGas: 0n,
    validAfter: 0,
    validUntil: 0,
  }
  const limits = {
    preVerificationGas: '0xc350',
    verificationGasLimit: '0x11170',
    callGasLimit: '0x186a0',
    maxFeePerGas: '0x7',
    maxPriorityFeePerGas: '0x0',
  }
  expect(methods.eth_estimateUserOperationGas.encode.standard(estimate)).toEqual({
    ...limits,
    paymasterVerificationGasLimit: '0x7530',
    paymasterPostOpGasLimit: '0x0',
  })
  expect(
    methods.eth_estimateUserOperationGas.encode.standard({
      ...estimate,
      paymasterVerificationGasLimit: undefined,
      paymasterPostOpGasLimit: undefined,
    }),
  ).toEqual(limits)
})

test("a receipt has a boolean, hex, and the operation's own logs", () => {
  const log = {
    address: address('9'),
    topics: [word('e')],
    data: '0x',
    blockNumber: '0x7',
    blockHash: word('b'),
    transactionHash: word('c'),
    transactionIndex: '0x0',
    logIndex: '0x1',
    removed: false,
  }
  const event = { ...log, address: receipt.entryPoint, logIndex: '0x2' }
  expect(
    methods.eth_getUserOperationReceipt.encode.standard({ ...receipt, reason: '0x08c379a0' }),
  ).toEqual({
    userOpHash: word('a'),
    entryPoint: checksummed,
    sender: address('1'),
    nonce: '0x5',
    paymaster: address('0'),
    actualGasCost: '0x719531d35800',
    actualGasUsed: '0x130e58',
    success: true,
    reason: '0x08c379a0',
    logs: [log, event],
    receipt: {
      transactionHash: word('c'),
      transactionIndex: '0x0',
      blockHash: word('b'),
      blockNumber: '0x7',
      from: address('2'),
      to: receipt.entryPoint,
      contractAddress: null,
      cumulativeGasUsed: '0x100',
      gasUsed: '0x1b',
      effectiveGasPrice: '0x0',
      logs: [{ ...log, address: address('8'), logIndex: '0x0' }, log, event],
      logsBloom: `0x${'00'.repeat(256)}`,
      status: '0x1',
      type: '0x2',
    },
  })
  expect(methods.eth_getUserOperationReceipt.encode.standard(undefined)).toBeNull()
})

test('an operation by its hash is nested, with null block fields while pending', () => {
  const pending = {
    operation: sponsored,
    version: '0.7' as const,
    entryPoint: receipt.entryPoint,
    blockNumber: undefined,
    blockHash: undefined,
    transactionHash: undefined,
  }
  expect(methods.eth_getUserOperationByHash.encode.standard(pending)).toEqual({
    userOperation: {
      sender: address('1'),
      nonce: '0x5',
      callData: '0x0000189a',
      callGasLimit: '0x186a0',
      verificationGasLimit: '0x11170',
      preVerificationGas: '0xc350',
      maxFeePerGas: '0x59682f00',
      maxPriorityFeePerGas: '0x0',
      paymaster: address('7'),
      paymasterVerificationGasLimit: '0x7530',
      paymasterPostOpGasLimit: '0x0',
      paymasterData: '0xabcd',
      signature: '0xab',
    },
    entryPoint: checksummed,
    blockNumber: null,
    blockHash: null,
    transactionHash: null,
  })
})

test('an operation by its hash has a late signature of v0.9 in a field of its own', () => {
  const signature = `0x${'5a'.repeat(65)}` as const
  const late = { ...sponsored, paymasterData: joinPaymasterSignature('0xabcd', signature) }
  const known = { entryPoint: receipt.entryPoint, blockNumber: 1n, blockHash: word('b') }
  const byHash = (operation: typeof late, version: '0.8' | '0.9') =>
    methods.eth_getUserOperationByHash.encode.standard({
      ...known,
      operation,
      version,
      transactionHash: word('c'),
    })
  expect(byHash(late, '0.9')).toMatchObject({
    userOperation: { paymasterData: '0xabcd', paymasterSignature: signature },
  })
  const { userOperation } = byHash(sponsored as typeof late, '0.9') as { userOperation: object }
  expect(userOperation).not.toHaveProperty('paymasterSignature')
  expect(byHash(late, '0.8')).toMatchObject({
    userOperation: { paymasterData: late.paymasterData },
  })
})

test('a status carries the standard receipt', () => {
  const done = {
    state: 'CONFIRMED' as const,
    message: 'Transaction is confirmed',
    transactionHash: word('c'),
    receipt,
  }
  expect(methods.biconomy_getUserOperationStatus.encode.standard(done)).toMatchObject({
    message: 'Transaction is confirmed',
    userOperationReceipt: { success: true, entryPoint: checksummed },
  })
})

test('paymaster data has the shape of the version and the limits that were signed', () => {
  const limits = {
    callGasLimit: '0x186a0',
    verificationGasLimit: '0x11170',
    preVerificationGas: '0xc350',
  }
  const result = {
    ...({ mode: 'SPONSORED', decision, operation: sponsored, separateSignature: false } as const),
    paymasterAndData: '0x77abcd' as const,
  }
  expect(methods.pm_getPaymasterData.encode.standard({ ...result, version: '0.6' })).toEqual({
    paymasterAndData: '0x77abcd',
    ...limits,
  })
  expect(methods.pm_getPaymasterData.encode.standard({ ...result, version: '0.8' })).toEqual({
    paymaster: address('7'),
    paymasterVerificationGasLimit: '0x7530',
    paymasterPostOpGasLimit: '0x0',
    paymasterData: '0xabcd',
    ...limits,
  })
})

test('a stub has the shape of the version, is not final and names the sponsor', () => {
  const stub = {
    paymaster: address('7'),
    paymasterData: '0xffff' as const,
    paymasterVerificationGasLimit: 1n,
    paymasterPostOpGasLimit: 0n,
  }
  const sponsor = { name: 'Shop', icon: 'https://shop.example/icon.png' }
  const form = { payer: stub, separateSignature: false, isFinal: false, sponsor }
  expect(methods.pm_getPaymasterStubData.encode.standard({ ...form, version: '0.6' })).toEqual({
    paymasterAndData: `${address('7')}ffff`,
    isFinal: false,
    sponsor,
  })
  expect(methods.pm_getPaymasterStubData.encode.standard({ ...form, version: '0.7' })).toEqual({
    paymaster: address('7'),
    paymasterData: '0xffff',
    paymasterVerificationGasLimit: '0x1',
    paymasterPostOpGasLimit: '0x0',
    isFinal: false,
    sponsor,
  })
})

test('a late signature stands apart for who asked so, else behind the data', () => {
  const paymasterData = joinPaymasterSignature('0xabcd', '0x010203')
  const payer = {
    paymaster: address('7'),
    paymasterVerificationGasLimit: 1n,
    paymasterPostOpGasLimit: 0n,
    paymasterData,
  }
  const apart = { paymasterData: '0xabcd', paymasterSignature: '0x010203' }
  for (const separateSignature of [true, false]) {
    const form = { version: '0.9', separateSignature } as const
    const stub = methods.pm_getPaymasterStubData.encode.standard({
      payer,
      ...form,
      isFinal: true,
      sponsor: undefined,
    })
    expect(stub).toMatchObject({
      isFinal: true,
      ...(separateSignature ? apart : { paymasterData }),
    })
    const data = methods.pm_getPaymasterData.encode.standard({
      decision,
      operation: { ...sponsored, ...payer },
      paymasterAndData: '0x',
      mode: 'SPONSORED',
      ...form,
    })
    expect(data).toMatchObject(separateSignature ? apart : { paymasterData })
    expect(Object.hasOwn(data as object, 'paymasterSignature')).toBe(separateSignature)
  }
})

test('without a paymaster the operation gets zero fees', () => {
  const form = { payer: undefined, separateSignature: false, isFinal: false, sponsor: undefined }
  const fees = { maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' }
  expect(methods.pm_getPaymasterStubData.encode.standard({ ...form, version: '0.7' })).toEqual({
    ...fees,
    isFinal: false,
  })
  expect(methods.pm_getPaymasterStubData.encode.standard({ ...form, version: '0.6' })).toEqual({
    ...fees,
    paymasterAndData: '0x',
    isFinal: false,
  })
  for (const sponsored of [true, false]) {
    const result = {
      decision: { ...decision, sponsored },
      operation,
      paymasterAndData: '0x' as const,
      ...({ mode: 'SPONSORED', version: '0.6', separateSignature: false } as const),
    }
    for (const name of ['pm_sponsorUserOperation', 'pm_getPaymasterData'] as const) {
      const answer = methods[name].encode.standard(result) as Record<string, unknown>
      expect(answer.maxFeePerGas).toBe(sponsored ? '0x0' : undefined)
    }
  }
})

test('a sponsorship has hex limits, both modes and the decision', () => {
  const form = { mode: 'SPONSORED', version: '0.6', separateSignature: false } as const
  const result = { ...form, decision, operation: { ...operation, paymaster: address('7') } }
  for (const name of ['pm_sponsorUserOperation', 'pm_getFeeQuoteOrData'] as const)
    expect(methods[name].encode.standard({ ...result, paymasterAndData: '0xabcd' })).toEqual({
      mode: 'SPONSORED',
      MODE: 'SPONSORED',
      paymasterAndData: '0xabcd',
      preVerificationGas: '0xc350',
      verificationGasLimit: '0x11170',
      callGasLimit: '0x186a0',
      maxFeePerGas: '0x59682f00',
      maxPriorityFeePerGas: '0x0',
      sponsorship: decision,
    })
})

test('errors are sent with HTTP 200', () => {
  expect(standard.status(new FeeTooLowError('maxFeePerGas', 1n, 2n))).toBe(200)
})
