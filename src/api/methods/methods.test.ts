import { describe, expect, test } from 'vitest'
import { address, rpcOperation06, rpcOperation07 } from '../../../test/support/http/apiFixtures.js'
import { memoryKeys } from '../../../test/support/http/memoryServices.js'
import { rpcPath, useApi } from '../../../test/support/http/useApi.js'
import type { Requester } from '../../base/requester.js'
import { canonicalAddresses } from '../../erc4337/canonicalAddresses.js'
import { methods } from './methodList.js'

const { call, memory, post } = useApi()

const entryPoint = canonicalAddresses['0.6']
const unknownHash = `0x${'ab'.repeat(32)}`

describe('the life of an operation', () => {
  test('in the classic dialect', async () => {
    const options = { simulation_type: 'validation_and_execution' }
    const sent = await call('v2', 'eth_sendUserOperation', [rpcOperation06, entryPoint, options])
    const hash = sent.body.result
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
    expect(memory().calls.at(-1)?.arguments[2]).toEqual({
      appId: 'app-1',
      keyId: 'key-1',
      requester: expect.objectContaining({ name: 'key-1' }),
      simulateExecution: true,
    })
    const again = await call('v2', 'eth_sendUserOperation', [rpcOperation06, entryPoint])
    expect(again.body.result).toBe(hash)

    expect(await call('v2', 'eth_getUserOperationReceipt', [hash])).toMatchObject({
      status: 200,
      body: { id: 1, result: null },
    })
    expect((await call('v2', 'biconomy_getUserOperationStatus', [hash])).body.result).toEqual({
      state: 'BUNDLER_MEMPOOL',
    })
    memory().include(hash)
    const receipt = await call('v2', 'eth_getUserOperationReceipt', [hash])
    expect(receipt.body.result).toMatchObject({ userOpHash: hash, success: 'true', nonce: 5 })
    const byHash = await call('v2', 'eth_getUserOperationByHash', [hash])
    expect(byHash.body.result).toMatchObject({ nonce: '0x0', initCode: '0x', blockNumber: 7 })
  })

  test('in the standard dialect, which v2 speaks on request', async () => {
    const sent = await call('v3', 'eth_sendUserOperation', [
      rpcOperation07,
      canonicalAddresses['0.7'],
    ])
    memory().include(sent.body.result)
    const body = JSON.stringify({
      id: 1,
      method: 'eth_getUserOperationReceipt',
      params: [sent.body.result],
    })
    for (const where of [rpcPath('v3'), `${rpcPath('v2')}?dialect=standard`])
      expect((await post(where, body)).body.result).toMatchObject({ success: true, nonce: '0x5' })
    expect((await post(`${rpcPath('v3')}?dialect=classic`, body)).body.result.success).toBe('true')
    const byHash = await call('v3', 'eth_getUserOperationByHash', [sent.body.result])
    expect(byHash.body.result.userOperation).toMatchObject({
      factory: rpcOperation07.factory.toLowerCase(),
      paymasterData: '0xabcd',
    })
  })

  test.each(['v2', 'v3'])(
    '%s: its signature is for the app that sent it until it is included',
    async (version) => {
      const { body } = await call('v3', 'eth_sendUserOperation', [
        rpcOperation07,
        canonicalAddresses['0.7'],
      ])
      const ask = { id: 1, method: 'eth_getUserOperationByHash', params: [body.result] }
      const shownTo = async (key: string) => {
        const answer = await post(`/api/${version}/31337/${key}`, JSON.stringify(ask))
        const { userOperation } = answer.body.result
        expect({ ...userOperation, signature: '' }).toMatchObject({
          sender: rpcOperation07.sender.toLowerCase(),
          paymasterData: '0xabcd',
        })
        return userOperation.signature
      }
      const { apiKey, siblingKey, strangerKey } = memoryKeys
      expect(await shownTo(apiKey)).toBe(rpcOperation07.signature)
      for (const key of [siblingKey, strangerKey]) expect(await shownTo(key)).toBe('0x')
      memory().include(body.result)
      for (const key of [siblingKey, strangerKey])
        expect(await shownTo(key)).toBe(rpcOperation07.signature)
    },
  )

  test('an unknown dialect is refused', async () => {
    expect(await post(`${rpcPath('v2')}?dialect=latin`, '{"id":5}')).toMatchObject({
      status: 400,
      body: { id: 5, error: { code: -32602, data: { field: 'dialect' } } },
    })
  })

  test('the status of an unknown hash is an error with HTTP 200', async () => {
    for (const version of ['v2', 'v3'])
      expect(await call(version, 'biconomy_getUserOperationStatus', [unknownHash])).toMatchObject({
        status: 200,
        body: {
          error: {
            code: -32004,
            message: `UserOpHash: ${unknownHash} not found for chainId: 31337`,
          },
        },
      })
    expect(await call('v2', 'eth_getUserOperationByHash', [unknownHash])).toMatchObject({
      status: 200,
      body: { result: null },
    })
  })
})

describe('methods', () => {
  test('estimate with and without a state override', async () => {
    const override = { [address('A')]: { balance: '0x1' } }
    const answer = await call('v2', 'eth_estimateUserOperationGas', [
      rpcOperation06,
      entryPoint,
      override,
    ])
    expect(answer.body.result.validUntil).toEqual({ type: 'BigNumber', hex: '0x6b49d200' })
    expect(memory().calls.at(-1)?.arguments[2]).toEqual({
      override: { [address('a')]: { balance: '0x1' } },
      appId: 'app-1',
      requester: expect.objectContaining({ name: 'key-1' }),
    })
    await call('v2', 'eth_estimateUserOperationGas', [rpcOperation06, entryPoint])
    expect(memory().calls.at(-1)?.arguments[2]).toMatchObject({ override: undefined })
  })

  const simulating = Object.values(methods).filter(({ simulates }) => simulates)
  test.each(simulating)('$name works for its caller', async ({ name, example }) => {
    const before = memory().calls.length
    // The examples are about another chain.
    const params = JSON.stringify(example.params).replace(/"0xa"|(?<="chainId":)10/, '31337')
    await call('v3', name, JSON.parse(params))
    const askers = memory()
      .calls.slice(before)
      .flatMap((each) => each.arguments)
      .flatMap((given) => (given as { requester?: Requester } | undefined)?.requester?.name ?? [])
    expect(new Set(askers)).toEqual(new Set(['key-1']))
  })

  test('names of the service', async () => {
    expect((await call('v2', 'eth_supportedEntryPoints', [])).body.result[0]).toBe(
      '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
    )
    expect((await call('v2', 'web3_clientVersion', [])).body.result).toBe('purser/test')
    expect((await call('v2', 'biconomy_getGasFeeValues', [])).body.result).toMatchObject({
      maxFeePerGas: '2',
      fast: { maxFeePerGas: '3' },
    })
  })

  test('a refused sponsorship is a result in its own form, elsewhere an error', async () => {
    const mode = { mode: 'SPONSORED', sponsorshipInfo: { webhookData: { refuse: true } } }
    expect(await call('v1', 'pm_sponsorUserOperation', [rpcOperation06, mode])).toMatchObject({
      status: 200,
      body: {
        result: {
          paymasterAndData: '0x',
          callGasLimit: 100_000,
          sponsorship: { sponsored: false, code: 'webhook_denied' },
        },
      },
    })
    for (const [method, ...more] of [
      ['pm_getPaymasterData', '0x7a69', mode],
      ['pm_sponsorUserOperation', mode],
    ] as const)
      for (const [version, status] of [
        ['v1', 400],
        ['v3', 200],
      ] as const)
        expect(await call(version, method, [rpcOperation06, entryPoint, ...more])).toMatchObject({
          status,
          body: {
            error: {
              code: -32501,
              message: 'The webhook denied the sponsorship.',
              data: { code: 'webhook_denied' },
            },
          },
        })
  })

  test('a stub asks no webhook', async () => {
    const mode = { mode: 'SPONSORED', sponsorshipInfo: { webhookData: { refuse: true } } }
    const answer = await call('v3', 'pm_getPaymasterStubData', [
      rpcOperation07,
      canonicalAddresses['0.7'],
      31_337,
      mode,
    ])
    expect(answer.body.result).toMatchObject({ paymaster: address('7'), isFinal: false })
    expect(memory().calls.at(-1)?.arguments[0]).toMatchObject({ webhookData: undefined })
  })

  test('mode ERC20 goes to the token paymaster in every method', async () => {
    const withToken = { mode: 'ERC20', tokenInfo: { feeTokenAddress: address('b') } }
    const params7677 = [rpcOperation06, entryPoint, '0x7a69', withToken]
    const asked = { appId: 'app-1', token: address('b'), tokens: [address('b')] }
    for (const [method, values, name, result] of [
      ['pm_sponsorUserOperation', [rpcOperation06, withToken], 'pay', { mode: 'ERC20' }],
      ['pm_getFeeQuoteOrData', [rpcOperation06, withToken], 'quote', { mode: 'ERC20' }],
      ['pm_getPaymasterData', params7677, 'pay', { paymasterAndData: `${address('7')}abcd` }],
      ['pm_getPaymasterStubData', params7677, 'stub', { isFinal: false }],
    ] as const) {
      const answer = await call('v1', method, values)
      expect(answer).toMatchObject({ status: 200, body: { result } })
      const last = memory().calls.at(-1)
      expect(last).toMatchObject({ name: `tokens.${name}`, arguments: [asked] })
    }
  })
})
