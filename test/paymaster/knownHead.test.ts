import { parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import type { Draft } from '../../src/erc4337/draft.js'
import { listWebhookCalls } from '../../src/paymaster/ledger/webhookCalls.js'
import type { SponsorshipRequest } from '../../src/paymaster/sponsorship.js'
import { type HttpNode, startHttpNode, startNodeWithout } from '../support/chain/httpNode.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { tankOwnerKey } from '../support/world/sponsoring.js'
import { until } from '../support/until.js'
import { useWorld } from '../support/world.js'

/* A node that is far away: a sponsorship does not wait for its newest head. */

let front: HttpNode
const world = useWorld({
  versions: ['0.7'],
  // No poll happens by itself: only what asks for the newest head sees one.
  definition: { pollInterval: 3_600_000 },
  front: async (target) => {
    front = await startNodeWithout(target, [])
    return front
  },
})

async function existing(seed: string): Promise<Draft> {
  const draft = await world().at('0.7').draft('deployed', seed)
  await world().heads.refresh()
  return { ...draft, ...unsetGas }
}

/** Asks without a look at the newest head before. */
function ask(draft: Draft, choices: Partial<SponsorshipRequest> = {}) {
  return world().services.sponsor(world().request(world().appId, draft, choices))
}

/** Tops the app's tank up, in a block that the service has not seen. */
async function topUp(): Promise<void> {
  const tank = await world().makeTank(world().appId, 0n)
  await world().tanks.deposit(tank, parseEther('1'), localSigner(tankOwnerKey))
}

test('a tank that was topped up in a block that nobody has seen yet sponsors, and one decision is stored', async () => {
  const draft = await existing('topped up')
  await world().makeTank(world().appId, 1_000n)
  expect((await ask(draft)).decision.code).toBe('TANK_EMPTY')
  const known = world().heads.current()
  await topUp()
  expect((await ask(draft)).decision.code).toBe('SPONSORED')
  expect(world().heads.current().number).toBeGreaterThan(known.number)
  const decisions = world().database.selectFrom('decisions').select('code').orderBy('created_at')
  const stored = await decisions.where('app_id', '=', world().appId).execute()
  expect(stored.map(({ code }) => code)).toEqual(['TANK_EMPTY', 'SPONSORED'])
})

test('a sponsorship of an account that was looked at in this block asks the node nothing', async () => {
  await topUp()
  const draft = await existing('looked at')
  await ask(draft)
  const before = front.bodies.length
  expect((await ask(draft)).decision.code).toBe('SPONSORED')
  expect(front.bodies.slice(before)).toEqual([])
})

test('webhooks are asked once, at the newest head', async () => {
  const webhook = await startHttpNode((_, response) => {
    response.end('{"arePoliciesVerified":true}')
  })
  try {
    await topUp()
    const draft = await existing('with a webhook')
    const webhookUrl = `${webhook.url}/`
    await world().webhooks.create(world().appId, { webhookUrl, requestType: 'POST' })
    await world().anvil.request('anvil_mine', [])
    const known = world().heads.current()
    const { decision } = await ask(draft, { webhookData: { user: 'alice' } })
    expect(decision.code).toBe('SPONSORED')
    expect(world().heads.current().number).toBeGreaterThan(known.number)
    expect(await listWebhookCalls(world().database, decision.decisionId)).toHaveLength(1)
    expect(webhook.bodies).toHaveLength(1)
  } finally {
    await webhook.stop()
  }
})

describe('a node that has gone away', () => {
  const pollInterval = 20
  let isAway = false
  const lost = useWorld({
    versions: ['0.7'],
    definition: { pollInterval },
    front: (target) =>
      startHttpNode(async (body, response) => {
        if (isAway) {
          response.destroy()
          return
        }
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(body) })
        response.end(await answer.text())
      }),
  })

  test('is noticed after two polls, although all that the decision reads is known', async () => {
    const { services, appId, heads, request } = lost()
    await lost().makeTank(appId, parseEther('1'))
    const draft = { ...(await lost().at('0.7').draft('deployed', 'lost')), ...unsetGas }
    await heads.refresh()
    const sponsoring = () => services.sponsor(request(appId, draft))
    expect((await sponsoring()).decision.code).toBe('SPONSORED')
    isAway = true
    await until(async () => heads.age() > 2 * pollInterval)
    await expect(sponsoring()).rejects.toThrow(NodeUnavailableError)
  })
})
