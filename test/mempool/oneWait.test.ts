import { expect, test } from 'vitest'
import { type HttpNode, startHttpNode } from '../support/chain/httpNode.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { until } from '../support/until.js'
import { useWorld } from '../support/world.js'

/* A node that is far away: what one operation asks of it has to travel together. */

let front: HttpNode
/** Answers wait for it. */
let held: Promise<void> | undefined

async function startHoldingNode(target: string): Promise<HttpNode> {
  front = await startHttpNode(async (body, response) => {
    await held
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(body) })
    response.end(await answer.text())
  })
  return front
}

const world = useWorld({
  versions: ['0.7'],
  definition: { rules: 'full' },
  front: startHoldingNode,
})

/** The requests until `work` ends, where nothing is answered before `methods` were asked for. */
async function askedWhile(
  work: () => Promise<unknown>,
  methods: readonly string[],
): Promise<unknown[]> {
  const before = front.bodies.length
  const asked = () => front.bodies.slice(before).flat() as { method: string }[]
  // One run in a hundred is also made by the node, for comparison.
  const isComparison = (body: unknown) =>
    [body].flat().every((call) => (call as { method: string }).method === 'debug_traceCall')
  let release = () => {}
  held = new Promise((resolve) => {
    release = resolve
  })
  try {
    const done = work()
    await until(async () => methods.every((name) => asked().some(({ method }) => method === name)))
    release()
    await done
    return front.bodies.slice(before).filter((body) => !isComparison(body))
  } finally {
    release()
    held = undefined
  }
}

async function newAccount(seed: string) {
  const { account, accountDraft, fund } = world().at('0.7')
  await fund((await account(seed)).address)
  return accountDraft(seed)
}

const ofFees = ['eth_feeHistory', 'eth_maxPriorityFeePerGas']

test('the first operation at a head waits for the node once', async () => {
  const { services, appId, mine } = world()
  const { entryPoint, sign } = world().at('0.7')
  const admit = async (seed: string) => {
    const op = await sign(await newAccount(seed), seed)
    await mine()
    return () =>
      services.admit(entryPoint, op, { appId, requester: undefined, simulateExecution: false })
  }
  // What such operations read is known from one of them.
  await (await admit('first'))()
  const ofState = ['eth_getTransactionCount', 'eth_call']
  expect(await askedWhile(await admit('second'), [...ofFees, ...ofState])).toHaveLength(2)
})

test('so does the first estimate', async () => {
  const { services, appId, mine } = world()
  const { entryPoint } = world().at('0.7')
  const estimate = async (seed: string) => {
    const draft = { ...(await newAccount(seed)), ...unsetGas }
    await mine()
    return () => services.estimate(entryPoint, draft, { appId, requester: undefined })
  }
  await (await estimate('third'))()
  expect(await askedWhile(await estimate('fourth'), [...ofFees, 'eth_call'])).toHaveLength(2)
})
