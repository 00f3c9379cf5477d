import { afterEach, expect, test } from 'vitest'
import { detectChainRules } from '../../src/chain/chainRules.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { getBlock } from '../../src/chain/nodeReads.js'
import { forks } from '../../src/evm/index.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { startPlainNode } from '../support/chain/plainNode.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function start(...args: string[]): Promise<Anvil> {
  const anvil = await startAnvil(args)
  open.push(() => anvil.stop())
  return anvil
}

async function detect(url: string) {
  const node = createNodeClient({ urls: [url], logger: silent })
  open.push(() => node.close())
  const head = await getBlock(node, 'latest')
  return detectChainRules(node, head!.hash)
}

// anvil has no Amsterdam: test/nodes/amsterdam.test.ts has a geth that changes over to it.
const ofAnvil = forks.filter((fork) => fork !== 'amsterdam')

test.each(ofAnvil)('%s is recognised by what its contracts can do', async (fork) => {
  const anvil = await start('--hardfork', fork)
  const calldataFloor = forks.indexOf(fork) >= forks.indexOf('prague')
  expect(await detect(anvil.url)).toMatchObject({ fork, calldataFloor, readsByHash: true })
})

test('a chain older than Shanghai has no rules that we know', async () => {
  const anvil = await start('--hardfork', 'paris')
  expect(await detect(anvil.url)).toBeUndefined()
})

test('a node with nothing but plain methods tells as much', async () => {
  const anvil = await start('--hardfork', 'prague')
  const plain = await startPlainNode(anvil.url)
  open.push(() => plain.stop())
  expect(await detect(plain.url)).toMatchObject({
    fork: 'prague',
    readsByHash: false,
    unknownPrecompiles: new Set(),
  })
})

test('a node that answers eth_config with nothing announces nothing', async () => {
  const anvil = await start('--hardfork', 'prague')
  const silentNode = await startChangedNode(anvil.url, (method, _, answer) =>
    method === 'eth_config'
      ? { jsonrpc: '2.0', id: 0, ...answer, error: undefined, result: null }
      : answer,
  )
  open.push(() => silentNode.stop())
  expect(await detect(silentNode.url)).toMatchObject({
    fork: 'prague',
    unknownPrecompiles: new Set(),
    next: undefined,
  })
})

test('P-256 is taken from the chain where its fork does not bring it', async () => {
  const prague = await start('--hardfork', 'prague')
  expect((await detect(prague.url))?.chainPrecompiles).toBeUndefined()
  const yes = '0x60015f5260205ff3'
  await prague.request('anvil_setCode', ['0x0000000000000000000000000000000000000100', yes])
  expect((await detect(prague.url))?.chainPrecompiles?.has(0x100)).toBe(true)
})
