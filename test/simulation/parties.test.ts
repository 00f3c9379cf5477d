import { parseEther } from 'viem'
import { expect, test } from 'vitest'
import type { Requester } from '../../src/base/requester.js'
import { requesterOf } from '../support/requesterOf.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'

/* Every service that runs an operation charges the party that asks for it; what the service does by itself is free. */

const { world, chain, appId, draftOf, requestFor, ask, makeTank } = useSponsoredApp('0.7')

/** Requires that each of these runs is charged to the party for which it is. */
async function requireCharged(runs: Record<string, (requester: Requester) => Promise<unknown>>) {
  for (const [name, run] of Object.entries(runs)) {
    const requester = requesterOf('key')
    await run(requester)
    expect(requester.spent, name).toBeGreaterThan(0)
  }
}

test('estimates, sponsorships and what an operation would move', async () => {
  const { services } = world()
  const { entryPoint } = chain()
  await makeTank(parseEther('1'))
  const { draft } = await draftOf('deployed', '0x1234')
  const whole = { ...draft, ...(await world().estimate(entryPoint, draft)) }
  await requireCharged({
    estimate: (requester) => services.estimate(entryPoint, draft, { appId: appId(), requester }),
    sponsor: (requester) => services.sponsor(requestFor(draft, { requester })),
    preview: (requester) => services.previewSponsorship(requestFor(draft, { requester })),
    assets: (requester) => services.assets(entryPoint, whole, { appId: appId(), requester }),
  })
})

test('admission, and looks at what was admitted; not the bundle', async () => {
  const { services } = world()
  const { entryPoint } = chain()
  await makeTank(parseEther('1'))
  const { seed, draft } = await draftOf('deployed', '0x1234')
  const operation = await chain().sign((await ask(draft)).operation, seed)
  const options = { appId: appId(), simulateExecution: false }
  const sender = requesterOf('key')
  const userOpHash = await services.admit(entryPoint, operation, { ...options, requester: sender })
  const { spent } = sender
  expect(spent).toBeGreaterThan(0)
  const pending = { ...options, entryPoint, operation, userOpHash, blockHash: undefined }
  await requireCharged({
    check: (requester) => services.check(entryPoint, operation, { ...options, requester }),
    alone: (requester) => services.witnesses.alone({ ...pending, isPending: true, requester }),
  })
  await world().settle()
  expect(sender.spent, 'its bundle').toBe(spent)

  const { receipt, ...result } = await world().receipt(userOpHash)
  const { sharedBy } = await world().stored(userOpHash)
  const included = { ...result, ...pending, blockHash: receipt.blockHash, sharedBy }
  await requireCharged({
    alone: (requester) => services.witnesses.alone({ ...included, isPending: false, requester }),
    waterfall: (requester) => services.waterfall(entryPoint, included, requester),
    neededGas: (requester) => services.neededGas({ ...included, requester }),
  })
})
