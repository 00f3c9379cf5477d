import { toHex } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { withBooks } from '../support/database/books.js'
import { type Json, result } from '../support/http/jsonRpc.js'
import { webhookApi } from '../support/http/webhookApi.js'
import { useWebhookServer } from '../support/http/webhookServer.js'
import { devAccount, TARGET } from '../support/service/devAccount.js'
import { simpleSmartAccount } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser()
const hook = useWebhookServer()
const versions = ['0.6', '0.7', '0.8', '0.9'] as const

/** An app whose webhook is asked with the whole operation, as an operator sets one up. */
beforeAll(async () => {
  const { info } = purser()
  const body = { webhookUrl: hook.url(), requestType: 'POST' }
  const { webhookId } = (await webhookApi(info, 'POST', { body })).body.data
  const headers = { authToken: info.authToken, 'content-type': 'application/json' }
  const apps = await fetch(`${info.url}/admin/v1/apps`, { headers })
  const { items } = (await apps.json()) as Json
  const path = `${info.url}/admin/v1/apps/${items[0].id}/webhooks/${webhookId}`
  const changed = await fetch(path, {
    method: 'PATCH',
    headers,
    body: '{"payload":"extended"}',
  })
  expect(changed.status).toBe(200)
})

/** A draft of an account that does not exist yet, as its client sends it to the paymaster. */
async function draftOf(version: (typeof versions)[number], seed: string): Promise<Json> {
  const { info } = purser()
  if (version === '0.6') {
    const { account } = await devAccount(info, seed)
    return toInterfaceOperation(await account.draft({ to: TARGET }))
  }
  const account = await simpleSmartAccount(info, version, seed)
  return {
    sender: account.address,
    nonce: '0x0',
    ...(await account.getFactoryArgs()),
    callData: await account.encodeCalls([{ to: TARGET }]),
    signature: await account.getStubSignature(),
  }
}

/** wei that the webhook was sent, and wei that were reserved for the sender. */
async function sentAndReserved(op: Json, mode: Json): Promise<{ sent: bigint; reserved: bigint }> {
  const { info, dataFolder } = purser()
  const entryPoint = mode.entryPoint
  const answer = await result(info.paymasterUrl, 'pm_sponsorUserOperation', [
    op,
    entryPoint,
    { mode: 'SPONSORED', sponsorshipInfo: { webhookData: {} }, ...mode.context },
  ])
  expect(answer.sponsorship.sponsored).toBe(true)
  expect(hook.calls).toHaveLength(1)
  const { context } = JSON.parse(hook.calls[0]?.body ?? '')
  const row = await withBooks(dataFolder, (database) =>
    database
      .selectFrom('reservations')
      .select('max_cost')
      .where('sender', '=', op.sender.toLowerCase())
      .executeTakeFirstOrThrow(),
  )
  return { sent: BigInt(context.maxCostWei), reserved: row.max_cost }
}

describe('the most that a webhook approves is what is reserved, to the wei', () => {
  test.each(versions)('limits estimated by us, EntryPoint v%s', async (version) => {
    const op = await draftOf(version, `estimated ${version}`)
    const entryPoint = purser().info.entryPoints[version]
    const { sent, reserved } = await sentAndReserved(op, {
      entryPoint,
      context: { calculateGasLimits: true },
    })
    expect(sent).toBe(reserved)
    expect(reserved).toBeGreaterThan(0n)
  })

  test.each(versions)('limits and fees of the client, EntryPoint v%s', async (version) => {
    const { info } = purser()
    const entryPoint = info.entryPoints[version]
    const draft = await draftOf(version, `own ${version}`)
    const estimate = await result(info.standardUrl, 'eth_estimateUserOperationGas', [
      draft,
      entryPoint,
    ])
    const { callGasLimit, verificationGasLimit, preVerificationGas } = estimate
    const { fast } = await result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
    const maxFeePerGas = BigInt(fast.maxFeePerGas)
    const fees = {
      maxFeePerGas: toHex(maxFeePerGas),
      maxPriorityFeePerGas: toHex(BigInt(fast.maxPriorityFeePerGas)),
    }
    const op = { ...draft, callGasLimit, verificationGasLimit, preVerificationGas, ...fees }
    const { sent, reserved } = await sentAndReserved(op, {
      entryPoint,
      context: { calculateGasLimits: false },
    })
    expect(sent).toBe(reserved)
    expect(reserved % maxFeePerGas).toBe(0n)
  })
})
