import { type Address, parseEther } from 'viem'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createNodeClient } from '../../../src/chain/nodeClient.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { Engine } from '../../../src/simulation/engine.js'
import { createNodeEngine } from '../../../src/simulation/node/nodeEngine.js'
import { findTracer } from '../../../src/simulation/tracer.js'
import { startHttpNode } from '../../support/chain/httpNode.js'
import { silent } from '../../support/logger.js'
import { openGround } from '../../support/world/ground.js'
import { type SenderKind, senderKinds, VERSIONS } from '../../support/world/versionChain.js'
import { useVersionChain } from '../../support/world.js'

describe.each(VERSIONS)('traced by the node, EntryPoint v%s:', (version) => {
  const chain = useVersionChain(version)
  let onNode: Pick<Engine, 'validate'>
  let tank: Address
  let count = 0

  beforeAll(async () => {
    const { node } = chain().engine
    onNode = createNodeEngine({ node, tracing: { ...chain().engine, tracer: 'script' } })
    tank = await chain().createTank(0)
    await chain().engine.heads.refresh()
  })
  beforeEach(() => {
    count++
  })

  const validate = (op: Operation) => onNode.validate(chain().entryPoint, op)

  async function funded(kind: SenderKind) {
    const seed = `sender ${count} ${kind}`
    const op = await chain().draft(kind, seed, chain().onTarget('write', 0n, 2n))
    await chain().fund(op.sender)
    await chain().engine.heads.refresh()
    return { op, seed }
  }

  test('the node has the tracer that runs our script, not that of geth', async () => {
    expect(await findTracer(chain().engine.node, chain().entryPoint)).toBe('script')
  })

  test.each(senderKinds(version))('a %s sender is what our EVM says it is', async (kind) => {
    const { op, seed } = await funded(kind)
    const signed = await chain().sign(op, seed)
    const [ours, theirs] = [
      await chain().engine.validate(chain().entryPoint, signed),
      await validate(signed),
    ]
    if (!ours.ok || !theirs.ok) throw new Error('it was refused')
    const { observed: ourRun, before: _, ...said } = ours.validation
    const { observed: theirRun, before: __, ...reported } = theirs.validation
    expect(reported).toEqual(said)
    if (ourRun.kind !== 'record' || theirRun.kind !== 'record')
      throw new Error('nothing was recorded')
    expect(theirRun).toMatchObject({
      senderExists: kind !== 'counterfactual',
      stakes: ourRun.stakes,
      blockHash: ourRun.blockHash,
    })
    for (const [address, hash] of ourRun.codeHashes) {
      expect([address, theirRun.codeHashes.get(address)]).toEqual([address, hash])
    }
  })

  test('a wrong signature is refused in the words of the EntryPoint', async () => {
    const { op } = await funded('counterfactual')
    expect(await validate(await chain().sign(op, 'somebody else'))).toMatchObject({
      ok: false,
      failure: { code: 'AA24' },
    })
  })

  test('a wrong nonce and a sender without code are refused', async () => {
    const { op, seed } = await funded('counterfactual')
    const late = await chain().sign({ ...op, nonce: (7n << 64n) | 5n }, seed)
    expect(await validate(late)).toMatchObject({ failure: { code: 'AA25' } })
    const nobody = await chain().sign({ ...op, factory: undefined, factoryData: '0x' }, seed)
    expect(await validate(nobody)).toMatchObject({ failure: { code: 'AA20' } })
  })

  test.each([
    ['over', { validAfter: 17, validUntil: 1_000 }],
    ['not begun', { validAfter: 4_000_000_000, validUntil: 4_000_000_100 }],
    ['without end and not begun', { validAfter: 4_000_000_000, validUntil: 0 }],
  ])('of a time that is %s, everything is known but the current time', async (_, terms) => {
    const seed = `sender ${count}`
    const drafted = await chain().draft('counterfactual', seed)
    const op = await chain().sign(await chain().sponsor(drafted, tank, terms), seed)
    const ours = await chain().engine.validate(chain().entryPoint, op)
    const theirs = await validate(op)
    if (!ours.ok || !theirs.ok) throw new Error('it was refused')
    const { verificationGasUsed, prefund } = ours.validation
    expect(theirs.validation).toMatchObject({ ...terms, verificationGasUsed, prefund })
  })

  test('what the caller pretends of the state holds', async () => {
    const op = await chain().sign(await chain().draft('counterfactual', 'poor'), 'poor')
    expect(await validate(op)).toMatchObject({ ok: false, failure: { code: 'AA21' } })
    const balance = `0x${parseEther('1').toString(16)}` as const
    const rich = { [op.sender]: { balance } }
    expect(await onNode.validate(chain().entryPoint, op, rich)).toMatchObject({ ok: true })
  })
})

test('a node without debug methods has no tracer, and its trouble is not a refusal', async () => {
  const ground = await openGround()
  const chain = ground.at('0.7')
  const node = await startHttpNode((body, response) => {
    const refuse = ({ id }: { id: number }) => {
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'method not found' } }
    }
    const requests = body as { id: number } | { id: number }[]
    response.end(JSON.stringify(Array.isArray(requests) ? requests.map(refuse) : refuse(requests)))
  })
  const client = createNodeClient({ urls: [node.url], logger: silent })
  try {
    expect(await findTracer(client, chain.entryPoint)).toBeUndefined()
    const tracing = { ...ground.engine, node: client, tracer: 'native' } as const
    const engine = createNodeEngine({ node: client, tracing })
    const op = await chain.draft('counterfactual', 'anyone')
    await expect(engine.validate(chain.entryPoint, op)).rejects.toMatchObject({
      rule: 'TRACE_REFUSED',
      status: 503,
    })
  } finally {
    await client.close()
    await node.stop()
    await ground.stop()
  }
})
