import { createPublicClient, getAddress, http } from 'viem'
import { createBundlerClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { usePurser } from '../support/service/usePurser.js'

const info = usePurser()

const request = JSON.stringify({ id: 7, method: 'eth_supportedEntryPoints', params: [] })

function call(version: string, headers: Record<string, string>) {
  const { url, chainId } = info()
  return fetch(`${url}/api/${version}/${chainId}`, { method: 'POST', body: request, headers })
}

describe('the key in a header, on the same URL without the key', () => {
  test.each(['v1', 'v2', 'v3'])('is good in %s as Bearer and as x-api-key', async (version) => {
    const { url, chainId, apiKey } = info()
    const path = `${url}/api/${version}/${chainId}/${apiKey}`
    const byPath = await (await fetch(path, { method: 'POST', body: request })).json()
    for (const headers of [
      { authorization: `Bearer ${apiKey}` },
      { authorization: `bearer ${apiKey}` },
      { 'x-api-key': apiKey },
    ]) {
      const answer = await call(version, headers)
      expect(answer.status).toBe(200)
      expect(await answer.json()).toEqual(byPath)
    }
  })

  test.each([
    ['no header', {}],
    ['a wrong key', { authorization: 'Bearer pk.wrong' }],
    ['another scheme', { authorization: 'Basic cGs6' }],
    ['an empty key', { 'x-api-key': '' }],
  ])(
    '%s is HTTP 401 with the id of the request and both ways to send a key',
    async (_, headers) => {
      const answer = await call('v2', headers as Record<string, string>)
      expect(answer.status).toBe(401)
      const { id, error } = (await answer.json()) as {
        id: number
        error: { code: number; message: string }
      }
      expect({ id, code: error.code }).toEqual({ id: 7, code: -32001 })
      expect(error.message).toContain('x-api-key')
    },
  )

  test('a key in the path wins over one in a header', async () => {
    const { url, chainId, apiKey } = info()
    const path = `${url}/api/v2/${chainId}/pk.wrong`
    const headers = { 'x-api-key': apiKey }
    expect((await fetch(path, { method: 'POST', body: request, headers })).status).toBe(401)
  })

  test('works for an unmodified client, and for one in a browser of another origin', async () => {
    const { url, chainId, apiKey, rpcUrl, entryPoints } = info()
    const headers = { authorization: `Bearer ${apiKey}` }
    const bundler = createBundlerClient({
      client: createPublicClient({ chain: foundry, transport: http(rpcUrl) }),
      transport: http(`${url}/api/v3/${chainId}`, { fetchOptions: { headers } }),
    })
    expect(await bundler.getSupportedEntryPoints()).toContain(getAddress(entryPoints['0.8']!))
    const preflight = await fetch(`${url}/api/v3/${chainId}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://dapp.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-api-key',
      },
    })
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization')
  })
})

test('a GET of such a URL says that it takes POST', async () => {
  const { url, chainId } = info()
  expect((await fetch(`${url}/api/v2/${chainId}`)).status).toBe(405)
})
