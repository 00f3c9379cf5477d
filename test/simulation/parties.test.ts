import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import type { Requester } from '../../src/base/requester.js'
import { requesterOf } from '../support/requesterOf.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'

/* Every service that runs an operation charges the party that asks for it; what the service does by itself is free. */

const { world, chain, appId, draftOf, requestFor, ask, makeTank } = useSponsoredApp('0.7')

/** Runs of `work` that are charged to the party for which it is. */
async function charged(work: (requester: Requester) => Promise<unknown>): Promise<boolean> {
  const requester = requesterOf('key')
  await work(requester)
  return requester.spent > 0
}

/** An operation that a tank has paid for, signed by its sender. */
async function signedOperation() {
  const { seed, draft } = await draftOf('deployed', '0x1234')
  const { operation } = await ask(draft)
  return chain().sign(operation, seed)
}

test('estimates, sponsorships and what an operation would move', async () => {
  const { services } = world()
  const { entryPoint } = chain()
  await makeTank(10n ** 18n)
  const { draft } = await draftOf('deployed', '0x1234')
  const whole = { ...draft, ...(await world().estimate(entryPoint, draft)) }
  const runs: Record<string, (requester: Requester) => Promise<unknown>> = {
    estimate: (requester) => services.estimate(entryPoint, draft, { appId: appId(), requester }),
    sponsor: (requester) => services.sponsor(requestFor(draft, { requester })),
    preview: (requester) => services.previewSponsorship(requestFor(draft, { requester })),
    assets: (requester) => services.assets(entryPoint, whole, { appId: appId(), requester }),
  }
  for (const [name, run] of Object.entries(runs)) expect(await charged(run), name).toBe(true)
})

test('admission, and looks at what was admitted; not the bundle', async () => {
  const { services } = world()
  const { entryPoint } = chain()
  await makeTank(10n ** 18n)
  const operation = await signedOperation()
  const options = { appId: appId(), simulateExecution: false }
  const check = (requester: Requester) =>
    services.check(entryPoint, operation, { ...options, requester })
  expect(await charged(check), 'check').toBe(true)
  const sender = requesterOf('key')
  const hash = await services.admit(entryPoint, operation, { ...options, requester: sender })
  const { spent } = sender
  expect(spent).toBeGreaterThan(0)
  const subject = { entryPoint, operation, userOpHash: hash, appId: appId() }
  const alone = (isPending: boolean, blockHash?: Hex) => (requester: Requester) =>
    services.witnesses.alone({ ...subject, isPending, blockHash, requester })
  expect(await charged(alone(true)), 'alone, pending').toBe(true)
  await world().settle()
  expect(sender.spent, 'its bundle').toBe(spent)

  const { success, actualGasUsed, actualGasCost, receipt } = await world().receipt(hash)
  const { blockHash } = receipt
  const { sharedBy } = await world().stored(hash)
  const paid = { operation, success, actualGasUsed, actualGasCost, sharedBy, blockHash }
  const included = { entryPoint, operation, blockHash }
  const runs: Record<string, (requester: Requester) => Promise<unknown>> = {
    alone: alone(false, blockHash),
    waterfall: (requester) => services.waterfall(entryPoint, paid, requester),
    neededGas: (requester) => services.neededGas({ ...included, requester }),
  }
  for (const [name, run] of Object.entries(runs)) expect(await charged(run), name).toBe(true)
})
