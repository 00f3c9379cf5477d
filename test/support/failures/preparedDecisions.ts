import { toInterfaceOperation } from '../../../src/cli/devnet/simpleAccount.js'
import type { Json } from '../http/jsonRpc.js'
import { devAccount } from '../service/devAccount.js'
import type { FailureWorld, HookAnswer } from './failureWorld.js'
import type { FailurePlace, PreparedFailure } from './preparedFailure.js'

let senders = 0

/** Asks for a sponsorship that must be refused. */
async function undecided(world: FailureWorld, sponsorshipInfo: Json = {}): Promise<string> {
  const { info, ask } = world
  const dev = await devAccount(info, `sponsored sender ${++senders}`)
  const draft = await dev.account.draft({ to: dev.account.address })
  const op = { ...draft, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
  const mode = { mode: 'SPONSORED', calculateGasLimits: true, sponsorshipInfo }
  const params = [toInterfaceOperation(op), mode]
  const { result, error } = await ask(info.paymasterUrl, 'pm_sponsorUserOperation', params)
  if (result?.sponsorship?.sponsored !== false)
    throw new Error(error?.message ?? 'the operation was sponsored')
  return result.sponsorship.decisionId
}

function placeOf(decisionId: string): FailurePlace {
  return { path: `/decisions/${decisionId}`, command: ['decision', 'show', decisionId] }
}

/** Runs `ask` while the app has a webhook that answers so. */
async function withHook<Result>(
  { admin, appId, hook }: FailureWorld,
  answer: HookAnswer,
  run: () => Promise<Result>,
): Promise<Result> {
  hook.answer = answer
  const body = {
    webhookUrl: hook.url,
    requestType: 'POST',
    deadlineMs: answer === 'hangs' ? 1_000 : 5_000,
  }
  const { webhook } = await admin('POST', `/apps/${appId}/webhooks`, body)
  try {
    return await run()
  } finally {
    await admin('DELETE', `/apps/${appId}/webhooks/${webhook.webhookId}`)
  }
}

const question = { webhookData: { user: 'alice' } }
/** The circuit opens after five failures; more than so many questions are a defect. */
const MOST_QUESTIONS = 20

/** Sponsorships that are refused: each has a decision with all numbers. */
export const preparedDecisions: readonly PreparedFailure[] = [
  {
    name: 'budget',
    async prepare(world) {
      const { admin, appId } = world
      const terms = { budgets: [{ per: 'app', limit: { wei: '1' }, window: 'day' }] }
      const { policyId } = await admin('POST', '/policies', { name: 'mint', appId, terms })
      try {
        return placeOf(await undecided(world))
      } finally {
        await admin('DELETE', `/policies/${policyId}`)
      }
    },
    code: 'BUDGET_EXCEEDED',
    says: [
      /Policy mint: 0 wei of 1 wei are spent or reserved \(per app, window day until \d{10} \(\d{4}-\d\d-\d\dT00:00:00.000Z\)\); the operation may take \d+ wei more/,
    ],
    step: /Wait until its window ends/,
  },
  {
    name: 'webhook denied',
    prepare: (world) =>
      withHook(world, 'denies', async () => placeOf(await undecided(world, question))),
    code: 'WEBHOOK_DENIED',
    says: [/the daily prize is gone/, /^denied 200/m],
    step: /has the webhook's reason/,
  },
  {
    name: 'webhook time-out',
    prepare: (world) =>
      withHook(world, 'hangs', async () => placeOf(await undecided(world, question))),
    code: 'WEBHOOK_FAILED',
    says: [/^timeout .* [1-9]\d* ms/m],
    step: /answer sooner, or raise `deadlineMs`/,
  },
  {
    name: 'circuit open',
    prepare: (world) =>
      withHook(world, 'fails', async () => {
        for (let asked = 0; asked < MOST_QUESTIONS; asked++) {
          const place = placeOf(await undecided(world, question))
          const { webhookCalls } = await world.admin('GET', place.path)
          if (webhookCalls[0].outcome === 'circuit_open') return place
        }
        throw new Error('the circuit stayed closed')
      }),
    code: 'WEBHOOK_FAILED',
    says: [/^circuit_open /m, /it keeps failing, so it is not called for some seconds/],
    step: /failed repeatedly and is called again after ten seconds/,
  },
]
