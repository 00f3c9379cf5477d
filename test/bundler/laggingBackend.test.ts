import { numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { followChain } from '../../src/bundler/send/followChain.js'
import { sendBundles } from '../../src/bundler/send/sendBundles.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { bundlingContext } from '../../src/service/bundleChain.js'
import { openChain } from '../../src/service/openChain.js'
import { startTroubledNode } from '../support/chain/troubledNode.js'
import { silent } from '../support/logger.js'
import { useFreshWorld } from '../support/world.js'

const chain = useFreshWorld({ versions: ['0.6', '0.7'] })

test('a simulation on an older block than the head drops no operation', async () => {
  const hash = await chain().admit(chain().operation(await chain().createAccount()))
  const head = chain().heads.current()
  const followed = (await followChain(chain().context, head))!
  const backend = await startTroubledNode(chain().anvil.url)
  await backend.begin({ kind: 'old', block: head.number - 1n, methods: ['eth_call'] })
  const node = createNodeClient({ urls: [backend.url], logger: silent })
  try {
    await sendBundles({ ...chain().context, node }, followed, { turn: 0, freshHead: true })
  } finally {
    await node.close()
    await backend.stop()
  }
  expect(backend.met('eth_call')).toBeGreaterThan(0)
  expect(await chain().stateOf(hash)).toBe('pooled')
  await chain().settle()
  expect(await chain().stateOf(hash)).toBe('included')
})

test('a bundler that has not seen the block of the admission drops no operation', async () => {
  const { definition, parts, database, anvil } = chain()
  const acts = chain().at('0.7')
  const draft = await acts.draft('deployed', 'late')
  const { number } = await chain().heads.refresh()
  await anvil.send({ to: draft.sender, value: numberToHex(10n ** 18n) })
  const hash = await chain().admit(await acts.sign(draft, 'late'), acts.entryPoint)
  const backend = await startTroubledNode(anvil.url)
  await backend.begin({ kind: 'old', block: number })
  const late = await openChain({ ...definition, rpcUrls: [backend.url], rules: 'full' }, parts)
  const context = bundlingContext(late, database, undefined)
  const bundle = async () => {
    const followed = (await followChain(context, await late.heads.refresh()))!
    await sendBundles(context, followed, { turn: 0, freshHead: true })
    return chain().stateOf(hash)
  }
  try {
    expect(await bundle()).toBe('pooled')
    await backend.end()
    expect(await bundle()).toBe('bundled')
  } finally {
    await late.close()
    await backend.stop()
  }
})
