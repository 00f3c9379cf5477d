import { expect, test } from 'vitest'
import { address } from '../../../test/support/http/apiFixtures.js'
import { memoryChainId } from '../../../test/support/http/memoryServices.js'
import { useApi } from '../../../test/support/http/useApi.js'
import { methodNames, methods } from './methodList.js'

const { call, memory, restart } = useApi()

const reads = methodNames.filter((name) => methods[name].scope === 'node')

test.each(reads)('%s does not exist on a chain whose operator forbids reads', async (name) => {
  const chain = { ...memory().chain, reads: undefined }
  const chains = new Map([[memoryChainId, chain]])
  await restart({ services: { ...memory().services, chains } })
  const { params } = methods[name].example
  expect((await call('v3', name, params as never)).body).toMatchObject({ error: { code: -32601 } })
  for (const advised of ['eth_gasPrice', 'eth_maxPriorityFeePerGas'])
    expect((await call('v3', advised, [])).body).toMatchObject({ result: expect.any(String) })
})

test('a signed transaction is passed on where the operator allows it, and only that', async () => {
  const [raw] = methods.eth_sendRawTransaction.example.params
  const send = (params: readonly unknown[]) => call('v3', 'eth_sendRawTransaction', params as never)
  expect((await send([raw])).body).toMatchObject({ result: `0x${'ab'.repeat(32)}` })
  expect(memory().calls.at(-1)?.arguments).toEqual(['app-1', raw])
  const unsigned = '0xe28080825208940000000000000000000000000000000000000a11ce80801480808080'
  for (const other of ['0x', '0x00', unsigned, `0x${'00'.repeat(131_073)}`, 7])
    expect((await send([other])).body).toMatchObject({ error: { code: -32602 } })
  const { reads, ...others } = memory().chain
  const chain = { ...others, reads: reads && { ...reads, send: undefined } }
  await restart({ services: { ...memory().services, chains: new Map([[memoryChainId, chain]]) } })
  expect((await send([raw])).body).toMatchObject({
    error: { code: -32601, message: expect.stringMatching(/allows it with sendRawTransaction\.$/) },
  })
})

test('nothing but decoded members reaches the node, in its shape', async () => {
  const read = async (name: string, params: readonly unknown[]) => {
    await call('v3', name, params as never)
    return memory().calls.at(-1)?.arguments
  }
  const to = address('A')
  expect(await read('eth_call', [{ to, gas: '0xffffffff', value: 1, nonce: 7 }])).toEqual([
    'app-1',
    'eth_call',
    [{ to: to.toLowerCase(), data: '0x', gas: '0x1000000', value: '0x1' }, 'latest'],
  ])
  const filter = { address: to, fromBlock: '0x386', toBlock: 'latest', other: 1 }
  expect(await read('eth_getLogs', [filter])).toEqual([
    'app-1',
    'eth_getLogs',
    [{ address: to.toLowerCase(), topics: [], fromBlock: '0x386', toBlock: '0x3e8' }],
  ])
  const [blockHash] = [`0x${'ab'.repeat(32)}`]
  expect(await read('eth_getCode', [to, { blockHash, requireCanonical: true }])).toEqual([
    'app-1',
    'eth_getCode',
    [to.toLowerCase(), { blockHash }],
  ])
})
