import { expect, test } from 'vitest'
import type { GroupTotal } from './rehearsal.js'
import { forecastSpending, type Rehearsed } from './rehearsalReport.js'

const nobody = `0x${'00'.repeat(20)}` as const
const tank = `0x${'11'.repeat(20)}` as const

const group = (policyId: string | null, paymaster: `0x${string}`) => ({
  appId: 'app',
  appName: 'App',
  policyId,
  policyName: policyId,
  accountId: 'account',
  entryPoint: tank,
  paymaster,
})

const total = (
  policyId: string | null,
  paymaster: `0x${string}`,
  operations: bigint,
  cost: bigint,
): GroupTotal => ({ ...group(policyId, paymaster), operations, cost })

/** An operation of 100 gas at 1 wei, by other rules of so much gas. */
const ran = (of: GroupTotal, gas: bigint | undefined, code?: string): Rehearsed => ({
  ...of,
  hash: '0x',
  sender: tank,
  operation: {} as Rehearsed['operation'],
  sharedBy: 1,
  blockHash: '0x',
  success: true,
  gas: 100n,
  cost: 100n,
  maxCost: 200n,
  outcome: {
    isNewest: false,
    failure: code === undefined ? undefined : { code, message: code },
    gas,
    maxCost: undefined,
  },
})

test('what was not run is scaled from what was, by app, policy and payer', () => {
  const sponsored = total('policy', tank, 10n, 1_000n)
  const own = total(null, nobody, 4n, 400n)
  const operations = [
    ran(sponsored, 300n, 'AA26'),
    ran(sponsored, 100n),
    { ...ran(sponsored, 900n), outcome: undefined },
    ran(own, undefined, 'AA13'),
  ]
  expect(forecastSpending([own, sponsored], operations)).toEqual([
    {
      ...{ appId: 'app', appName: 'App', policyId: 'policy', policyName: 'policy' },
      ...{ paidBy: 'sponsor', operations: 10n, rehearsed: 2, failing: 1 },
      ...{ cost: 1_000n, forecast: 2_000n },
    },
    {
      ...{ appId: 'app', appName: 'App', policyId: null, policyName: null },
      ...{ paidBy: 'sender', operations: 4n, rehearsed: 1, failing: 1 },
      ...{ cost: 400n, forecast: null },
    },
  ])
})

test('payers of one policy are one line', () => {
  const totals = [
    total('policy', tank, 1n, 100n),
    total('policy', `0x${'22'.repeat(20)}`, 1n, 100n),
  ]
  expect(forecastSpending(totals, [])).toMatchObject([{ operations: 2n, cost: 200n }])
})
