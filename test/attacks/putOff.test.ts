import { expect, test } from 'vitest'
import { unixNow } from '../../src/base/unixNow.js'
import { useFreshWorld } from '../support/world.js'

/*
 * The attacker's accounts put the start of their validity off after admission. Before: their operations waited as long as
 * any may be pooled, a day, and were validated in full at each head before all that pay less; where that took
 * twenty seconds, nothing else was even tried.
 */
const chain = useFreshWorld({ definition: { rules: 'full' } })

test('an operation that is not due any more leaves the pool with the reason; one due in a moment waits', async () => {
  const admitted = async (seconds: number) => {
    const account = await chain().createAccount()
    const hash = await chain().admit(chain().operation(account))
    const { timestamp } = await chain().heads.refresh()
    const validAfter = BigInt(Math.max(timestamp, unixNow()) + seconds)
    await chain().configure(account, { validationData: validAfter << 208n })
    return hash
  }
  const late = await admitted(1_000)
  const soon = await admitted(30)
  const honest = await chain().admit(chain().operation(await chain().createAccount()))
  await chain().round()
  const dropped = { state: 'dropped', reasonCode: 'AA22' }
  expect(await chain().stored(late)).toMatchObject(dropped)
  expect((await chain().stored(late)).reason).toMatch(/not due any more: valid after \d+/)
  expect((await chain().stored(soon)).state).toBe('pooled')
  expect((await chain().stored(honest)).state).not.toBe('pooled')
})
