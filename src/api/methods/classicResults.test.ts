import { getAddress } from 'viem'
import { expect, test } from 'vitest'
import { address, operation, receipt, word } from '../../../test/support/http/apiFixtures.js'
import { memoryToken } from '../../../test/support/http/memoryServices.js'
import { FeeTooLowError, OperationNotFoundError } from '../../base/errors/operationErrors.js'
import { classic } from '../dialects/dialect.js'
import { methods } from './methodList.js'

const big = 2n ** 64n

const estimate = {
  callGasLimit: 100_000n,
  verificationGasLimit: 70_000n,
  preVerificationGas: 50_000n,
  paymasterVerificationGasLimit: undefined,
  paymasterPostOpGasLimit: undefined,
  maxFeePerGas: big,
  maxPriorityFeePerGas: 0n,
  validAfter: 0,
  validUntil: 256,
}

test('an estimate: numbers, decimal fees, BigNumber bounds, nothing null', () => {
  expect(methods.eth_estimateUserOperationGas.encode.classic(estimate)).toEqual({
    callGasLimit: 100_000,
    verificationGasLimit: 70_000,
    preVerificationGas: 50_000,
    validUntil: { type: 'BigNumber', hex: '0x0100' },
    validAfter: { type: 'BigNumber', hex: '0x00' },
    maxPriorityFeePerGas: '0',
    maxFeePerGas: '18446744073709551616',
  })
})

test('an estimate of v0.7 has the two limits of the paymaster', () => {
  const paymaster = { paymasterVerificationGasLimit: 9n, paymasterPostOpGasLimit: 0n }
  expect(
    methods.eth_estimateUserOperationGas.encode.classic({ ...estimate, ...paymaster }),
  ).toMatchObject({
    paymasterVerificationGasLimit: 9,
    paymasterPostOpGasLimit: 0,
  })
})

test("a receipt has the interface's field types", () => {
  const log = {
    transactionIndex: 0,
    blockNumber: 7,
    transactionHash: word('c'),
    address: '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
    topics: [word('e')],
    data: '0x',
    logIndex: 2,
    blockHash: word('b'),
  }
  expect(methods.eth_getUserOperationReceipt.encode.classic(receipt)).toEqual({
    userOpHash: word('a'),
    entryPoint: '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
    sender: address('1'),
    nonce: 5,
    success: 'true',
    paymaster: address('0'),
    actualGasCost: 124_885_600_000_000,
    actualGasUsed: 1_248_856,
    logs: [log],
    receipt: {
      to: '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
      from: address('2'),
      contractAddress: null,
      transactionIndex: 0,
      gasUsed: { _hex: '0x1b', _isBigNumber: true },
      logsBloom: `0x${'00'.repeat(256)}`,
      blockHash: word('b'),
      transactionHash: word('c'),
      logs: [
        { ...log, address: address('8'), logIndex: 0 },
        { ...log, address: address('9'), logIndex: 1 },
        log,
      ],
      blockNumber: 7,
      confirmations: 3,
      cumulativeGasUsed: { _hex: '0x0100', _isBigNumber: true },
      effectiveGasPrice: { _hex: '0x00', _isBigNumber: true },
      status: 1,
      type: 2,
      byzantium: true,
    },
  })
})

test('a failed operation has success "false" and its reason', () => {
  const failed = { ...receipt, success: false, reason: '0x08c379a0' as const }
  expect(methods.eth_getUserOperationReceipt.encode.classic(failed)).toMatchObject({
    success: 'false',
    reason: '0x08c379a0',
  })
})

test('numbers that JSON would round are exact hex strings', () => {
  const nonce = (1n << 64n) + 1n
  expect(
    methods.eth_getUserOperationReceipt.encode.classic({
      ...receipt,
      nonce,
      actualGasCost: 2n ** 53n,
    }),
  ).toMatchObject({ nonce: '0x10000000000000001', actualGasCost: '0x20000000000000' })
  expect(
    methods.eth_getUserOperationReceipt.encode.classic({ ...receipt, nonce: 2n ** 53n - 1n }),
  ).toMatchObject({ nonce: Number.MAX_SAFE_INTEGER })
})

test('an unknown receipt or operation is null', () => {
  expect(methods.eth_getUserOperationReceipt.encode.classic(undefined)).toBeNull()
  expect(methods.eth_getUserOperationByHash.encode.classic(undefined)).toBeNull()
})

test('an operation by its hash stands flat and nested', () => {
  const found = {
    operation,
    version: '0.6' as const,
    entryPoint: receipt.entryPoint,
    blockNumber: 7n,
    blockHash: word('b'),
    transactionHash: word('c'),
  }
  const fields = {
    sender: address('1'),
    nonce: '0x5',
    initCode: '0x',
    callData: '0x0000189a',
    callGasLimit: '0x186a0',
    verificationGasLimit: '0x11170',
    preVerificationGas: '0xc350',
    maxFeePerGas: '0x59682f00',
    maxPriorityFeePerGas: '0x0',
    paymasterAndData: '0x',
    signature: '0xab',
  }
  expect(methods.eth_getUserOperationByHash.encode.classic(found)).toEqual({
    ...fields,
    userOperation: fields,
    entryPoint: receipt.entryPoint,
    blockNumber: 7,
    blockHash: word('b'),
    transactionHash: word('c'),
  })
})

test('a pending operation by its hash has null block fields', () => {
  const found = {
    operation,
    version: '0.6' as const,
    entryPoint: receipt.entryPoint,
    blockNumber: undefined,
    blockHash: undefined,
    transactionHash: undefined,
  }
  expect(methods.eth_getUserOperationByHash.encode.classic(found)).toMatchObject({
    blockNumber: null,
    blockHash: null,
    transactionHash: null,
  })
})

test('a status leaves away what there is not', () => {
  const pending = {
    state: 'BUNDLER_MEMPOOL' as const,
    message: undefined,
    transactionHash: undefined,
    receipt: undefined,
  }
  expect(methods.biconomy_getUserOperationStatus.encode.classic(pending)).toEqual({
    state: 'BUNDLER_MEMPOOL',
  })
  const done = { ...pending, state: 'CONFIRMED' as const, transactionHash: word('c'), receipt }
  expect(methods.biconomy_getUserOperationStatus.encode.classic(done)).toMatchObject({
    state: 'CONFIRMED',
    transactionHash: word('c'),
    userOperationReceipt: { success: 'true' },
  })
})

test('fees are flat for old clients and in tiers for new ones', () => {
  const fees = (maxFeePerGas: bigint) => ({ maxFeePerGas, maxPriorityFeePerGas: 1n })
  expect(
    methods.biconomy_getGasFeeValues.encode.classic({
      slow: fees(2n),
      standard: fees(big),
      fast: fees(4n),
    }),
  ).toEqual({
    maxFeePerGas: '18446744073709551616',
    maxPriorityFeePerGas: '1',
    slow: { maxFeePerGas: '2', maxPriorityFeePerGas: '1' },
    standard: { maxFeePerGas: '18446744073709551616', maxPriorityFeePerGas: '1' },
    fast: { maxFeePerGas: '4', maxPriorityFeePerGas: '1' },
  })
})

const packed = { mode: 'SPONSORED', version: '0.6', separateSignature: false } as const
const decision = { decisionId: 'd', sponsored: true, code: 'sponsored', message: 'Yes.' }

test('a sponsorship has both modes, a text and two numbers', () => {
  const result = { ...packed, decision, operation: { ...operation, paymaster: address('7') } }
  for (const name of ['pm_sponsorUserOperation', 'pm_getFeeQuoteOrData'] as const)
    expect(methods[name].encode.classic({ ...result, paymasterAndData: '0xabcd' })).toEqual({
      mode: 'SPONSORED',
      MODE: 'SPONSORED',
      paymasterAndData: '0xabcd',
      preVerificationGas: '50000',
      verificationGasLimit: 70_000,
      callGasLimit: 100_000,
      maxFeePerGas: '1500000000',
      maxPriorityFeePerGas: '0',
      sponsorship: decision,
    })
})

test('a refusal keeps usable limits and says why', () => {
  const refused = { decisionId: 'd', sponsored: false, code: 'tank_empty', message: 'Fill it.' }
  expect(
    methods.pm_sponsorUserOperation.encode.classic({
      ...packed,
      decision: refused,
      operation,
      paymasterAndData: '0x',
    }),
  ).toMatchObject({ paymasterAndData: '0x', callGasLimit: 100_000, sponsorship: refused })
})

test('a sponsorship of v0.7 also has the paymaster fields', () => {
  const sponsored = { ...operation, paymaster: address('7'), paymasterVerificationGasLimit: 30n }
  expect(
    methods.pm_sponsorUserOperation.encode.classic({
      mode: 'SPONSORED',
      version: '0.7',
      separateSignature: false,
      decision,
      operation: sponsored,
      paymasterAndData: '0xabcd',
    }),
  ).toMatchObject({
    paymaster: address('7'),
    paymasterData: '0x',
    paymasterVerificationGasLimit: 30,
    paymasterPostOpGasLimit: 0,
  })
})

const payment = {
  ...({ mode: 'ERC20', version: '0.6', separateSignature: false } as const),
  decisionId: 'd',
  token: memoryToken,
  maxCharge: 1_250_001n,
  rate: 3_000_000_000n,
  validUntil: 1_800_000_000,
  operation,
  paymasterAndData: '0xabcd' as const,
}

test('a token payment has both modes, the limits as signed and what it may cost', () => {
  expect(methods.pm_sponsorUserOperation.encode.classic(payment)).toEqual({
    mode: 'ERC20',
    MODE: 'ERC20',
    tokenPayment: {
      tokenAddress: getAddress(memoryToken.address),
      symbol: 'TUSD',
      decimal: 6,
      maxCharge: '1250001',
      rate: '3000000000',
      markup: 1_050_000,
      validUntil: 1_800_000_000,
      decisionId: 'd',
    },
    paymasterAndData: '0xabcd',
    preVerificationGas: '50000',
    verificationGasLimit: 70_000,
    callGasLimit: 100_000,
  })
})

test('a quote has every field that the SDKs read, amounts in whole tokens', () => {
  const [token, maxCharge, validUntil] = [memoryToken, 1_250_001n, 1_800_000_000]
  const answer = {
    ...({ mode: 'QUOTES', paymaster: address('7'), unsupported: [address('c')] } as const),
    quotes: [{ token, maxCharge, rate: 3_000_000_000n, validUntil }],
    nativePrice: 3_000_000_000n,
  }
  expect(methods.pm_getFeeQuoteOrData.encode.classic(answer)).toEqual({
    mode: 'ERC20',
    MODE: 'ERC20',
    paymasterAddress: getAddress(address('7')),
    feeQuotes: [
      {
        symbol: 'TUSD',
        name: 'Test dollar',
        decimal: 6,
        maxGasFee: 1.250001,
        tokenAddress: getAddress(memoryToken.address),
        maxGasFeeUSD: 1.250001,
        exchangeRate: 3_000_000_000,
        premiumPercentage: '5',
        validUntil,
        logoUrl: 'https://tokens.example/tusd.png',
      },
    ],
    unsupportedTokens: [getAddress(address('c'))],
  })
})

test('a rate above what a JSON number holds is exact text, a USD price unknown is left away', () => {
  const rate = 232_808_808_808_808_800_000n
  const quotes = [{ token: memoryToken, maxCharge: 1n, rate, validUntil: 1 }]
  const answer = { mode: 'QUOTES', paymaster: address('7'), unsupported: [], quotes } as const
  const { feeQuotes } = methods.pm_getFeeQuoteOrData.encode.classic({
    ...answer,
    nativePrice: undefined,
  }) as {
    feeQuotes: object[]
  }
  expect(feeQuotes[0]).toMatchObject({ exchangeRate: '232808808808808800000' })
  expect(feeQuotes[0]).not.toHaveProperty('maxGasFeeUSD')
})

test('errors have their own HTTP status', () => {
  expect(classic.status(new FeeTooLowError('maxFeePerGas', 1n, 2n))).toBe(400)
  expect(classic.status(new OperationNotFoundError(word('a'), 1))).toBe(200)
})
