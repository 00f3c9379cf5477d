import { describe, expect, test } from 'vitest'
import { rpcOperation06 } from '../../../test/support/http/apiFixtures.js'
import { memoryKeys } from '../../../test/support/http/memoryServices.js'
import { rpcPath, useApi } from '../../../test/support/http/useApi.js'
import { ValidationRejectedError } from '../../base/errors/operationErrors.js'
import { OverloadedError } from '../../base/errors/requestErrors.js'
import { canonicalAddresses } from '../../erc4337/canonicalAddresses.js'
import type { Actor } from '../../tenants/audit.js'

const { call, logged, memory, post, restart, url } = useApi()

const entryPoint = canonicalAddresses['0.6']

describe('errors', () => {
  test('of a call are HTTP 400 in the classic, 200 in the standard dialect', async () => {
    for (const [version, status] of [
      ['v1', 400],
      ['v2', 400],
      ['v3', 200],
    ] as const) {
      expect(await call(version, 'eth_nothing', [], 'my id')).toMatchObject({
        status,
        body: {
          jsonrpc: '2.0',
          id: 'my id',
          error: { code: -32601, message: 'Method not supported: eth_nothing' },
        },
      })
      expect(await post(rpcPath(version), '{"id":')).toMatchObject({
        status,
        body: { id: null, error: { code: -32700 } },
      })
    }
  })

  test('of the EntryPoint keep their AA text and carry the rule', async () => {
    const services = {
      ...memory().services,
      chains: new Map([
        [
          31_337,
          {
            ...memory().chain,
            admit: async () => {
              throw new ValidationRejectedError({
                message: 'AA25 invalid account nonce',
                rule: 'AA25',
              })
            },
          },
        ],
      ]),
    }
    await restart({ services })
    expect(await call('v2', 'eth_sendUserOperation', [rpcOperation06, entryPoint])).toMatchObject({
      status: 400,
      body: {
        error: {
          code: -32500,
          message: 'AA25 invalid account nonce',
          data: { rule: 'AA25' },
        },
      },
    })
  })

  test('that pass by themselves say after how many seconds to try again', async () => {
    const admit = async () => {
      throw new OverloadedError(1_000)
    }
    const chains = new Map([[31_337, { ...memory().chain, admit }]])
    await restart({ services: { ...memory().services, chains } })
    for (const [version, status] of [
      ['v2', 503],
      ['v3', 200],
    ] as const) {
      const answer = await call(version, 'eth_sendUserOperation', [rpcOperation06, entryPoint])
      expect(answer).toMatchObject({ status, body: { error: { code: -32005 } } })
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    expect((await call('v2', 'eth_nothing', [])).headers.get('retry-after')).toBeNull()
  })

  test('of our own are logged under a reference, which is all that the caller gets', async () => {
    const services = {
      ...memory().services,
      webhooks: (actor: Actor) => ({
        ...memory().services.webhooks(actor),
        get: () => Promise.reject(new Error('secret at /home/purser')),
      }),
      chains: new Map([
        [
          31_337,
          { ...memory().chain, fees: () => Promise.reject(new Error('secret at /home/purser')) },
        ],
      ]),
    }
    await restart({ services })
    const answer = await call('v2', 'biconomy_getGasFeeValues', [])
    expect(answer).toMatchObject({ status: 500, body: { error: { code: -32603 } } })
    expect(JSON.stringify(answer.body)).not.toContain('secret')
    const { reference } = answer.body.error.data
    expect(logged().filter((line) => line.includes(reference))).toHaveLength(1)
    expect(logged().join('')).toContain('secret at /home/purser')

    const id = '00000000-0000-4000-8000-000000000000'
    const rest = await fetch(`${url()}/api/v2/public/sdk/webhook?webhookId=${id}`, {
      headers: { authToken: memoryKeys.authToken, apiKey: memoryKeys.apiKey },
    })
    expect(rest.status).toBe(500)
    expect(await rest.json()).toEqual({
      statusCode: 500,
      message: expect.stringMatching(/^Internal error\. Quote reference [0-9a-f-]{36}/),
    })
  })

  test('the key in the path is never logged', async () => {
    await call('v2', 'eth_nothing', [])
    await post('/api/v2/31337/secret.key', '{"id":1,"method":"eth_chainId"}')
    expect(logged().length).toBeGreaterThan(0)
    expect(logged().join('')).not.toMatch(/secret\.key|app-1\.key/)
  })
})

describe('batches', () => {
  test('answer in the order of the calls, errors among results, with HTTP 200', async () => {
    const batch = [
      { id: 'a', method: 'eth_chainId' },
      { id: 2, method: 'eth_nothing' },
      5,
      { id: null, method: 'web3_clientVersion', params: [] },
      { method: 'eth_chainId' },
    ]
    const answer = await post(rpcPath('v2'), JSON.stringify(batch))
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual([
      { jsonrpc: '2.0', id: 'a', result: '0x7a69' },
      { jsonrpc: '2.0', id: 2, error: expect.objectContaining({ code: -32601 }) },
      { jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32600 }) },
      { jsonrpc: '2.0', id: null, result: 'purser/test' },
    ])
  })

  test('that are empty or too long are one error', async () => {
    const tooLong = Array.from({ length: 101 }, (_, id) => ({ id, method: 'eth_chainId' }))
    for (const batch of [[], tooLong])
      expect(await post(rpcPath('v2'), JSON.stringify(batch))).toMatchObject({
        status: 400,
        body: { id: null, error: { code: -32600 } },
      })
    expect((await post(rpcPath('v2'), JSON.stringify(tooLong.slice(1)))).body).toHaveLength(100)
  })

  test('encode each answer once', async () => {
    const { services, chain } = memory()
    const { reads } = chain
    if (reads === undefined) throw new Error('There are reads.')
    let encoded = 0
    const block = { toJSON: () => ++encoded }
    const counting = { ...reads, read: async () => block }
    const chains = new Map([[chain.chainId, { ...chain, reads: counting }]])
    await restart({ services: { ...services, chains } })
    const read = { method: 'eth_getBlockByNumber', params: ['0x1', true] }
    const { body } = await post(
      rpcPath('v3'),
      JSON.stringify([1, 2].map((id) => ({ id, ...read }))),
    )
    expect(body).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, result: id })))
    expect(encoded).toBe(2)
  })

  test('notifications are run and not answered', async () => {
    const notification = { method: 'biconomy_getGasFeeValues' }
    for (const body of [notification, [notification, { method: 'eth_nothing' }]]) {
      const before = memory().calls.length
      expect(await post(rpcPath('v2'), JSON.stringify(body))).toMatchObject({
        status: 204,
        body: '',
      })
      expect(memory().calls.length).toBe(before + 1)
    }
  })
})
