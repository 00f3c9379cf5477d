import { parseEther } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import type { NodeClient } from '../../src/chain/nodeClient.js'
import { createTankLevels } from '../../src/paymaster/tankLevel.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import { useAdmin } from '../support/http/useAdmin.js'
import { until } from '../support/until.js'
import { tankOwnerKey } from '../support/world/sponsoring.js'
import { useWorld } from '../support/world.js'

// A viewer's token asks for the tanks of its account as fast as it can. Gain: none. Loss without a bound: one or two
// requests to the operator's node, which often costs by the request, for each tank and each time.

const TANKS = 12
const REQUESTS = 150

let levels: ReturnType<typeof createTankLevels>
const api = useAdmin({ levelOf: (tank) => levels(tank) })

const world = useWorld({}, () => ({ database: api.database() }))
let viewer = ''
let asked = 0

beforeAll(async () => {
  const { node, heads, definition } = world().chain
  for (let made = 0; made < TANKS; made++) {
    const { body } = await api.admin('POST', '/apps', api.one().token, { name: `app ${made}` })
    await world().makeTank(body.id, 0n)
  }
  const counted: NodeClient = {
    ...node,
    request: (method, params) => {
      asked++
      return node.request(method, params)
    },
  }
  levels = createTankLevels({
    database: api.database(),
    node: counted,
    heads,
    chainId: definition.chainId,
  })
  const body = { name: 'looks', role: 'viewer' }
  viewer = (await api.admin('POST', '/auth-tokens', api.one().token, body)).body.authToken
})

async function look() {
  const { status, body } = await api.admin('GET', '/tanks', viewer)
  expect(status).toBe(200)
  expect(body.items).toHaveLength(TANKS)
  return body.items as readonly { readonly address: string; readonly deposit: string }[]
}

test(`${REQUESTS} looks at ${TANKS} tanks in one block cost one request to the node for each tank`, async () => {
  await Promise.all(Array.from({ length: REQUESTS / 2 }, look))
  for (let done = 0; done < REQUESTS / 2; done++) await look()
  expect(asked).toBe(TANKS)
})

test('a deposit is seen once the head has moved, for at most one request more for each tank', async () => {
  const [first] = await look()
  if (first === undefined) throw new Error('there is no tank')
  const { entryPoint } = world()
  const tank = { address: first.address, entryPoint: entryPoint.address } as Parameters<
    ReturnType<typeof world>['tanks']['deposit']
  >[0]
  await world().tanks.deposit(tank, parseEther('2'), localSigner(tankOwnerKey))
  await world().heads.refresh()
  await until(async () => {
    const level = (await look()).find(({ address }) => address === first.address)
    return level?.deposit === String(parseEther('2'))
  })
  expect(asked).toBeLessThanOrEqual(2 * TANKS)
})
