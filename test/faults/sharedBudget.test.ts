import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectBalancedBooks, withBooks } from '../support/database/books.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import { devAccount } from '../support/service/devAccount.js'
import { type Fleet, startFleet } from '../support/service/fleet.js'
import { type Intent, included, send } from '../support/service/intents.js'
import { until } from '../support/until.js'

/*
 * A client with an app's key asks two processes at once for more sponsorships than a budget holds, from new senders each time;
 * the operator changes the master key meanwhile, as docs/operate/keys.md says.
 */

const LIMIT = 24
const ASKED = 72
const NEW_KEY = '6f'.repeat(32)

let fleet: Fleet
beforeAll(async () => {
  fleet = await startFleet(1_021)
})
afterAll(() => fleet?.stop())

/** A policy of the app, by the administration; a count that never begins anew. */
async function setBudget(): Promise<void> {
  const { url, authToken } = fleet.info()
  const { id: appId } = await withBooks(fleet.folder, (database) =>
    database.selectFrom('apps').select('id').executeTakeFirstOrThrow(),
  )
  const budgets = [{ per: 'app', limit: { count: LIMIT }, window: 'never' }]
  const response = await fetch(`${url}/admin/v1/policies`, {
    method: 'POST',
    headers: { authorization: `Bearer ${authToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ appId, name: 'flooded', terms: { budgets } }),
  })
  expect(response.status).toBe(201)
}

/** What the operator does with the key, while others ask. */
async function changeMasterKey(): Promise<string> {
  const commands = commandsOn(fleet.folder, { ...fleet.environment, NEW_KEY })
  const rewrap = () => commands.answer('keys', 'rewrap', '--new-key', 'env:NEW_KEY')
  expect(Number(labelled(await rewrap(), 'secrets with the new key now'))).toBeGreaterThan(0)
  fleet.environment.PURSER_MASTER_KEY = NEW_KEY
  for (const each of fleet.replicas) {
    await each.end('SIGTERM')
    await each.start()
  }
  return rewrap()
}

type Outcome = { readonly intent: Intent; readonly isGranted: boolean }

/** Asks one process or the other until it is granted or the budget is said to be used up. */
async function ask(at: number): Promise<Outcome> {
  const intent: Intent = { seed: `shared budget ${at}`, payer: 'tank' }
  return until(async () => {
    const url = fleet.replicas[at % 2]!.url()
    const { bundlerUrl, ...info } = fleet.info()
    const path = bundlerUrl.replace(info.url, url)
    const account = await devAccount({ ...info, bundlerUrl: path, paymasterUrl: path }, intent.seed)
    return account.sponsored().then(
      (op) => ({ intent: { ...intent, op }, isGranted: true }),
      ({ message }: Error) =>
        message.includes('BUDGET_EXCEEDED') ? { intent, isGranted: false } : undefined,
    )
  })
}

test('two processes grant exactly what a budget holds, also while the master key is changed', {
  timeout: 300_000,
}, async () => {
  await setBudget()
  const asked = Array.from({ length: ASKED }, (_, at) => at)
  const first = Promise.all(asked.slice(0, LIMIT / 2).map(ask))
  const outcomes = [...(await first)]
  expect(outcomes.every(({ isGranted }) => isGranted)).toBe(true)
  const [rest, rewrapped] = await Promise.all([
    Promise.all(asked.slice(LIMIT / 2).map(ask)),
    changeMasterKey(),
  ])
  expect(Number(labelled(rewrapped, 'secrets that neither decrypts'))).toBe(0)
  outcomes.push(...rest)
  const granted = outcomes.filter(({ isGranted }) => isGranted).map(({ intent }) => intent)
  expect(granted).toHaveLength(LIMIT)

  // A grant of the time under the other key holds as one after it.
  for (const intent of granted) await send(fleet.info(), intent)
  const hashes = await included(fleet.info(), granted)
  await until(async () => {
    const open = await withBooks(fleet.folder, (database) =>
      database.selectFrom('reservations').select('id').where('state', '=', 'open').execute(),
    )
    return open.length === 0
  })
  await expectBalancedBooks(fleet.folder, fleet.info(), hashes, fleet.deposit)
})
