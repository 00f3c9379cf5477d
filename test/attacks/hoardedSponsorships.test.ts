import { type Address, type Hex, http, numberToHex } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  type SmartAccount,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { expect, test } from 'vitest'
import { greatest } from '../../src/base/bigints.js'
import { withBooks } from '../support/database/books.js'
import { type Json, rpc } from '../support/http/jsonRpc.js'
import { TARGET } from '../support/service/devAccount.js'
import { leaveDeposit } from '../support/service/leaveDeposit.js'
import { nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * With nothing but the app's key the attacker asks for sponsorships that it never sends. Each locks its
 * maximum cost until it ends, so that the tank has nothing left for others.
 */

const purser = useRunningPurser()
const version = '0.7'
/** Sponsorships that the tank has room for. */
const CAPACITY = 40n

const accountOf = (seed: string): Promise<SmartAccount> =>
  simpleSmartAccount(purser().info, version, seed)

/** The answer to a request for a sponsorship of an empty call with this key of the nonce. */
async function ask(account: SmartAccount, key = 0n): Promise<Json> {
  const { info } = purser()
  const { factory, factoryData } = await account.getFactoryArgs()
  const operation = {
    sender: account.address,
    nonce: numberToHex((key << 64n) + (key === 0n ? await account.getNonce({ key }) : 0n)),
    ...(factory === undefined ? {} : { factory, factoryData }),
    callData: await account.encodeCalls([{ to: TARGET, value: 0n, data: '0x' as Hex }]),
    signature: await account.getStubSignature(),
  }
  const params = [operation, info.entryPoints[version], { mode: 'SPONSORED' }]
  const { body } = await rpc(info.paymasterUrl, 'pm_sponsorUserOperation', params)
  if (body.error === undefined) return { sponsored: true }
  const { message, data } = body.error
  return { sponsored: false, message, code: data?.code }
}

const openOf = (senders: readonly Address[]) =>
  withBooks(purser().dataFolder, (database) =>
    database
      .selectFrom('reservations')
      .select('max_cost')
      .where(
        'sender',
        'in',
        senders.map((sender) => sender.toLowerCase() as Address),
      )
      .where('state', '=', 'open')
      .execute(),
  )

test('one key and made-up senders lock a stated part of a tank; known senders are served on', async () => {
  const { info } = purser()
  const tank = info.tanks[version] as Address
  const entryPoint = info.entryPoints[version] as Address

  // An honest user of the app, with an operation that was included.
  const known = await accountOf('known')
  const transport = http(info.standardUrl)
  const client = createBundlerClient({
    account: known,
    chain: foundry,
    client: nodeClient(info),
    transport,
    pollingInterval: 100,
    paymaster: createPaymasterClient({ transport }),
    paymasterContext: { mode: 'SPONSORED' },
  })
  const hash = await client.sendUserOperation({ calls: [{ to: TARGET }] })
  await client.waitForUserOperationReceipt({ hash })

  // One sender with a nonce key for each request: 65 of them took 4.98 of 5 ETH.
  const hoarder = await accountOf('hoarder')
  const answers: Json[] = []
  for (let key = 1n; key <= 65n; key++) answers.push(await ask(hoarder, key))
  const granted = answers.filter(({ sponsored }) => sponsored)
  expect(granted.length).toBe(16)
  for (const { sponsored, code, message } of answers)
    if (!sponsored) {
      expect(code).toBe('TOO_MUCH_UNSENT')
      expect(message).toMatch(/holds 16 sponsorships .* it may hold 16.* Send them, or ask again/)
    }
  const hoarded = await openOf([hoarder.address])
  expect(hoarded.length).toBe(16)
  const most = greatest(0n, ...hoarded.map(({ max_cost }) => max_cost))
  const locked = hoarded.reduce((sum, { max_cost }) => sum + max_cost, 0n)

  // Made-up senders, one sponsorship each, in a tank that has little more than those of the hoarder.
  const deposit = most * CAPACITY
  await leaveDeposit(info, entryPoint, tank, deposit)
  const made: SmartAccount[] = []
  let refused: Json
  while (refused === undefined && made.length < Number(CAPACITY)) {
    const account = await accountOf(`made up ${made.length}`)
    const answer = await ask(account)
    if (answer.sponsored) made.push(account)
    else refused = answer
  }
  expect(refused).toMatchObject({ code: 'TOO_MUCH_UNSENT' })
  expect(refused.message).toMatch(/Senders of the app without an included operation hold/)
  const ofMadeUp = await openOf(made.map(({ address }) => address))
  const all = ofMadeUp.reduce((sum, { max_cost }) => sum + max_cost, locked)
  expect(all).toBeLessThanOrEqual((deposit * 3n) / 4n)
  expect(all).toBeGreaterThan(deposit / 2n)

  // The part of the others is free: blocked time of the honest user 0 s, wei lost 0.
  expect(await ask(known)).toMatchObject({ sponsored: true })
  const next = await client.sendUserOperation({ calls: [{ to: TARGET }] })
  await client.waitForUserOperationReceipt({ hash: next })
})

test('a sender that sends what it asked for is not held up, however much that is', async () => {
  const { info } = purser()
  const account = await simpleSmartAccount(info, '0.8', 'burst')
  const transport = http(info.standardUrl)
  const client = createBundlerClient({
    account,
    chain: foundry,
    client: nodeClient(info),
    transport,
    pollingInterval: 50,
    paymaster: createPaymasterClient({ transport }),
    paymasterContext: { mode: 'SPONSORED' },
  })
  // More than the 16 that it may hold unsent, within the life of the first sponsorship.
  for (let round = 0; round < 20; round++) {
    const hash = await client.sendUserOperation({ calls: [{ to: TARGET }] })
    await client.waitForUserOperationReceipt({ hash })
  }
})
