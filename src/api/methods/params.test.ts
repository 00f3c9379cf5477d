import { describe, expect, test } from 'vitest'
import {
  address,
  entryPointNamed,
  rpcOperation06,
  rpcOperation07,
} from '../../../test/support/http/apiFixtures.js'
import { canonicalAddresses } from '../../erc4337/canonicalAddresses.js'
import type { Version } from '../../erc4337/entryPoint.js'
import { methods } from './methodList.js'

function chainWith(...versions: Version[]) {
  return {
    chainId: 31_337,
    entryPoints: new Map(versions.map((v) => [canonicalAddresses[v], entryPointNamed(v)])),
  }
}
const all = chainWith('0.6', '0.8', '0.7')

describe('the EntryPoint parameter', () => {
  test('may have any case and selects the version', () => {
    const checksummed = '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789'
    const decoded = methods.eth_sendUserOperation.decode([rpcOperation06, checksummed], all)
    expect(decoded.entryPoint.version).toBe('0.6')
  })

  test('that is not served is refused with those that are', () => {
    const decode = () => methods.eth_sendUserOperation.decode([rpcOperation06, address('9')], all)
    expect(decode).toThrow(
      expect.objectContaining({
        code: -32602,
        message: expect.stringContaining('Entry point not supported by Bundler'),
        data: { supported: [...all.entryPoints.keys()] },
      }),
    )
  })

  test.each([[undefined], [null], [5], ['0x']])('of %s is refused', (value) => {
    expect(() => methods.eth_estimateUserOperationGas.decode([rpcOperation06, value], all)).toThrow(
      /^params\[1\]: /,
    )
  })
})

describe('simulation options', () => {
  const decode = (options: unknown) =>
    methods.eth_sendUserOperation.decode([rpcOperation06, canonicalAddresses['0.6'], options], all)
      .simulateExecution

  test.each([
    [undefined, false],
    [null, false],
    [{}, false],
    [{ simulation_type: 'validation' }, false],
    [{ simulation_type: 'validation_and_execution', other: 1 }, true],
  ])('%o', (options, expected) => {
    expect(decode(options)).toBe(expected)
  })

  test.each([['validation'], [[]], [{ simulation_type: 'all' }], [{ simulation_type: 1 }]])(
    'refuses %o',
    (options) => {
      expect(() => decode(options)).toThrow(/^params\[2\]/)
    },
  )
})

describe('the mode object', () => {
  const decode = (mode: unknown) =>
    methods.pm_sponsorUserOperation.decode([rpcOperation06, mode], all)

  test('of the SDK is read', () => {
    const mode = {
      mode: 'SPONSORED',
      calculateGasLimits: true,
      expiryDuration: 300,
      tokenInfo: {},
      sponsorshipInfo: {
        webhookData: { user: { deep: [1] } },
        smartAccountInfo: { name: 'BICONOMY', version: '2.0.0' },
      },
    }
    expect(decode(mode)).toMatchObject({
      mode: 'SPONSORED',
      calculateGasLimits: true,
      expiryDuration: 300,
      webhookData: { user: { deep: [1] } },
      entryPoint: { version: '0.6' },
    })
  })

  test('may be as short as its mode, also under the alias', () => {
    expect(decode({ mode: 'SPONSORSHIP' })).toMatchObject({
      mode: 'SPONSORED',
      calculateGasLimits: false,
      expiryDuration: undefined,
      webhookData: undefined,
    })
  })

  test.each([
    [undefined, 'params[1]: is missing'],
    ['SPONSORED', 'params[1]: must be an object'],
    [{}, 'params[1].mode: is mandatory'],
    [{ mode: null }, 'params[1].mode: is mandatory'],
    [{ mode: 'sponsored' }, 'params[1].mode: must be "SPONSORED" or "ERC20"'],
    [{ mode: 'SPONSORED', calculateGasLimits: 'true' }, 'params[1].calculateGasLimits: must be'],
    [{ mode: 'SPONSORED', expiryDuration: 0 }, 'params[1].expiryDuration: must be from 1'],
    [{ mode: 'SPONSORED', expiryDuration: 1.5 }, 'params[1].expiryDuration: must be a quantity'],
    [{ mode: 'SPONSORED', sponsorshipInfo: [] }, 'params[1].sponsorshipInfo: must be an object'],
    [
      { mode: 'SPONSORED', sponsorshipInfo: { webhookData: 'x' } },
      'params[1].sponsorshipInfo.webhookData: must be an object',
    ],
    [
      { mode: 'SPONSORED', sponsorshipInfo: { smartAccountInfo: { name: 1 } } },
      'params[1].sponsorshipInfo.smartAccountInfo.name: must be a string',
    ],
    [
      { mode: 'ERC20', tokenInfo: { feeTokenAddress: '0x12' } },
      'params[1].tokenInfo.feeTokenAddress: must be an address',
    ],
    [
      { mode: 'ERC20', tokenInfo: { tokenList: 'all' } },
      'params[1].tokenInfo.tokenList: must be an array',
    ],
  ])('%o is refused', (mode, message) => {
    expect(() => decode(mode)).toThrow(message)
  })

  const [a, b, c, d] = [address('a'), address('b'), address('c'), address('d')]

  test.each([
    [{ feeTokenAddress: address('A'), preferredToken: b }, a, [a, b]],
    [{ preferredToken: b, tokenList: [c] }, b, [b, c]],
    [{ preferredToken: '', tokenList: [c, d] }, undefined, [c, d]],
    [{ tokenList: [c] }, c, [c]],
    [{}, undefined, []],
  ])('takes the token to pay with, and those to quote, from %o', (tokenInfo, token, tokens) => {
    expect(decode({ mode: 'ERC20', tokenInfo })).toMatchObject({ mode: 'ERC20', token, tokens })
  })

  test('carries a permit with its signature', () => {
    const permit = { value: '0x10', deadline: '77', signature: `0x${'ab'.repeat(65)}` }
    expect(decode({ mode: 'ERC20', token: a, permit })).toMatchObject({
      token: a,
      permit: { value: 16n, deadline: 77n, signature: permit.signature },
    })
    expect(() => decode({ mode: 'ERC20', permit: { ...permit, signature: '0xab' } })).toThrow(
      'params[1].permit.signature: must have 65 bytes',
    )
  })

  test('may be missing when quotes are asked, which tokenInfo shows', () => {
    const quote = (mode: unknown) =>
      methods.pm_getFeeQuoteOrData.decode([rpcOperation06, mode], all)
    expect(quote({})).toMatchObject({ mode: 'SPONSORED' })
    expect(quote({ tokenInfo: {} })).toMatchObject({ mode: 'ERC20', tokens: [] })
    expect(quote({ mode: 'SPONSORED', tokenInfo: {} })).toMatchObject({ mode: 'SPONSORED' })
    expect(quote({ mode: 'ERC20', tokenInfo: { tokenList: [] } })).toMatchObject({ tokens: [] })
  })

  test('a token alone is the context of an ERC-7677 client that pays with it', () => {
    const ask = (context: unknown) =>
      methods.pm_getPaymasterData.decode(
        [rpcOperation06, canonicalAddresses['0.6'], 31_337, context],
        all,
      )
    expect(ask({ token: a })).toMatchObject({ mode: 'ERC20', token: a })
    expect(() => ask({ token: '0x12' })).toThrow('params[3].token: must be an address')
  })
})

describe('pm_sponsorUserOperation with an EntryPoint, as clients of other services send it', () => {
  const decode = (...params: unknown[]) => methods.pm_sponsorUserOperation.decode(params, all)

  test.each([
    ['0.8', rpcOperation07],
    ['0.7', rpcOperation07],
    ['0.6', rpcOperation06],
  ] as const)('takes v%s as named, with or without a context', (version, operation) => {
    const named = decode(operation, canonicalAddresses[version])
    expect(named).toMatchObject({ entryPoint: { version }, mode: 'SPONSORED' })
    const context = { expiryDuration: 60 }
    expect(decode(operation, canonicalAddresses[version], context)).toMatchObject(context)
  })

  test('refuses one that is not served', () => {
    expect(() => decode(rpcOperation07, canonicalAddresses['0.9'])).toThrow(/not supported/)
    expect(() => decode(rpcOperation07, 'SPONSORED')).toThrow(/^params\[1\]: /)
  })
})

describe('pm_sponsorUserOperation infers the EntryPoint', () => {
  const versionFor = (operation: object, chain: ReturnType<typeof chainWith>) => {
    const decoded = methods.pm_sponsorUserOperation.decode(
      [operation, { mode: 'SPONSORED' }],
      chain,
    )
    return decoded.mode === 'SPONSORED' && decoded.entryPoint.version
  }

  test('from the shape, preferring the first that fits', () => {
    expect(versionFor(rpcOperation06, all)).toBe('0.6')
    expect(versionFor(rpcOperation07, all)).toBe('0.8')
  })

  test('or takes the only one', () => {
    const { initCode: _, paymasterAndData: __, ...bare } = rpcOperation06
    expect(versionFor(bare, chainWith('0.7'))).toBe('0.7')
  })
})

describe('ERC-7677 parameters', () => {
  const decode = (...params: unknown[]) => methods.pm_getPaymasterData.decode(params, all)
  const entryPoint = canonicalAddresses['0.7']

  test('name the EntryPoint and the chain, and may lack the context', () => {
    for (const context of [undefined, null, {}])
      expect(decode(rpcOperation07, entryPoint, '0x7a69', context)).toMatchObject({
        mode: 'SPONSORED',
        entryPoint: { version: '0.7' },
      })
  })

  test('of another chain are refused', () => {
    expect(() => decode(rpcOperation07, entryPoint, '0x1')).toThrow(
      'params[2]: is chain 1, this URL serves chain 31337.',
    )
    expect(() => decode(rpcOperation07, entryPoint)).toThrow('params[2]: is missing.')
  })
})

describe('the signing phase (EntryPoint v0.9)', () => {
  const late = chainWith('0.9', '0.8')
  const params = (phase: unknown, version: Version = '0.9') => [
    { ...rpcOperation07, paymasterSignature: '0x010203' },
    canonicalAddresses[version],
    '0x7a69',
    { signingPhase: phase, separateSignature: true },
  ]

  test('commit drops the paymaster of the client, finalize keeps it as signed', () => {
    expect(methods.pm_getPaymasterStubData.decode(params('commit'), late)).toMatchObject({
      signingPhase: 'commit',
      separateSignature: true,
      draft: { paymaster: undefined, paymasterData: '0x' },
    })
    expect(methods.pm_getPaymasterData.decode(params('finalize'), late)).toMatchObject({
      signingPhase: 'finalize',
      draft: {
        paymaster: rpcOperation07.paymaster.toLowerCase(),
        paymasterData: '0xabcd010203000322e325a297439656',
        paymasterPostOpGasLimit: 0n,
      },
    })
  })

  test('finalize needs every limit, and no signature', () => {
    const [operation, ...rest] = params('finalize')
    const { signature: _, ...unsigned } = operation as typeof rpcOperation07
    const decoded = methods.pm_getPaymasterData.decode([unsigned, ...rest], late)
    expect(decoded).toMatchObject({ draft: { signature: '0x' } })
    const { callGasLimit: __, ...lacking } = unsigned
    expect(() => methods.pm_getPaymasterData.decode([lacking, ...rest], late)).toThrow(
      'params[0].callGasLimit: is missing',
    )
  })

  test.each([
    ['pm_getPaymasterStubData', 'finalize', '0.9', 'must be "commit" here'],
    ['pm_getPaymasterData', 'commit', '0.9', 'must be "finalize" here'],
    ['pm_getPaymasterData', 'now', '0.9', 'must be "commit" or "finalize"'],
  ] as const)('%s refuses %s', (name, phase, version, message) => {
    expect(() => methods[name].decode(params(phase, version), late)).toThrow(
      `params[3].signingPhase: ${message}`,
    )
  })

  test('needs v0.9, and one of the two methods of ERC-7677', () => {
    const [, ...rest] = params('finalize', '0.8')
    expect(() => methods.pm_getPaymasterData.decode([rpcOperation07, ...rest], late)).toThrow(
      'params[3].signingPhase: needs EntryPoint v0.9',
    )
    const mode = { mode: 'SPONSORED', signingPhase: 'commit' }
    expect(() => methods.pm_sponsorUserOperation.decode([rpcOperation06, mode], all)).toThrow(
      'params[1].signingPhase: belongs to',
    )
  })
})
