/*
 * A process of its own that reserves as a sponsor does, on the built code. The parent sends the
 * connection once and then lists of requests; all of a list run at once. Ends when the parent
 * disconnects.
 */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { openDatabase } from '../../../dist/db/database.js'
import { claimBudgets } from '../../../dist/paymaster/policy/budget/budget.js'
import { termsSchema } from '../../../dist/paymaster/policy/policySchema.js'
import { createReserving } from '../../../dist/paymaster/sponsor/sponsorContext.js'

let database
let policies
let reserve

async function answer({ id, slot, maxCost, validUntil, head, at, price, ofAccount, ofApp }) {
  const spending = { appId: slot.appId, sender: slot.sender, maxCost, at, price }
  const candidates = (names) =>
    names.flatMap((name) => {
      const claimed = claimBudgets(policies.get(name), spending)
      return 'refusal' in claimed ? [] : [{ policyId: name, claims: claimed.claims }]
    })
  const claim = { maxCost, ofAccount: candidates(ofAccount), ofApp: candidates(ofApp) }
  if (claim.ofAccount.length < ofAccount.length || claim.ofApp.length === 0)
    return { id, kind: 'refused', charges: [] }
  const decisionId = randomUUID()
  const decide = () => ({
    id: decisionId,
    app_id: slot.appId,
    chain_id: BigInt(slot.chainId),
    entry_point: slot.entryPoint,
    sender: slot.sender,
    nonce: slot.nonce,
    user_op_hash: `0x${decisionId.replaceAll('-', '').padStart(64, '0')}`,
    sponsored: true,
    code: 'SPONSORED',
    message: '',
    max_cost: maxCost,
    valid_after: 0n,
    valid_until: validUntil,
  })
  const reserved = await reserve({ request: { slot, claim, head, validUntil }, decide, calls: [] })
  return {
    id,
    kind: reserved.kind,
    hash: decide().user_op_hash,
    charges: reserved.kind === 'granted' ? reserved.charges : [],
  }
}

process.on('message', async (message) => {
  if (message.connection) {
    database = openDatabase(message.connection, pino({ level: 'silent' }), { size: 8 })
    reserve = createReserving(database)
    policies = new Map(
      message.policies.map((policy) => [
        policy.id,
        { ...policy, terms: termsSchema.parse(policy.terms) },
      ]),
    )
    process.send({ ready: true })
    return
  }
  const settled = await Promise.allSettled(message.requests.map(answer))
  const failures = settled.flatMap((each) =>
    each.status === 'rejected' ? [String(each.reason?.stack)] : [],
  )
  const answers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  process.send({ answers, failures })
})

process.on('disconnect', () => database?.destroy())
