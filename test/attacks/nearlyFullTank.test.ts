import { type Address, type Hex, http } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  type UserOperation,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { withBooks } from '../support/database/books.js'
import { result } from '../support/http/jsonRpc.js'
import { TARGET } from '../support/service/devAccount.js'
import { leaveDeposit } from '../support/service/leaveDeposit.js'
import { nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * A tank has just enough for fifty sponsorships. Each of fifty senders sends what was granted to it while
 * bundles with the operations of the others are mined: what the ledger has granted the pool must take.
 */

const purser = useRunningPurser()
const SENDERS = 50

describe.each(['0.6', '0.7'] as const)('EntryPoint v%s', (version) => {
  const operationOf = async (seed: string): Promise<UserOperation<'0.7'>> => {
    const { info } = purser()
    const account = await simpleSmartAccount(info, version, `${seed} ${version}`)
    const client = createBundlerClient({
      account,
      chain: foundry,
      client: nodeClient(info),
      transport: http(info.standardUrl),
      paymaster: createPaymasterClient({ transport: http(info.standardUrl) }),
      paymasterContext: { mode: 'SPONSORED' },
    })
    const calls = [{ to: TARGET, value: 0n, data: '0x' as Hex }]
    const operation = (await client.prepareUserOperation({ calls })) as UserOperation<'0.7'>
    return { ...operation, signature: await account.signUserOperation(operation) }
  }

  test('no operation that was granted is refused when it is sent', async () => {
    const { info, dataFolder } = purser()
    const tank = info.tanks[version] as Address
    const entryPointAddress = info.entryPoints[version] as Address
    const transport = http(info.standardUrl)
    const bundler = createBundlerClient({ chain: foundry, transport, pollingInterval: 100 })
    // The base fee of a new chain falls with each block, and fees of a moment ago would be too high.
    await result(info.rpcUrl, 'anvil_mine', ['0x80'])
    await operationOf('first')
    const { max_cost: most } = await withBooks(dataFolder, (database) =>
      database
        .selectFrom('reservations')
        .select('max_cost')
        .where('paymaster', '=', tank)
        .executeTakeFirstOrThrow(),
    )
    // Of the first sender nothing is sent: it keeps its part.
    await leaveDeposit(info, entryPointAddress, tank, most * BigInt(SENDERS + 1))
    const refusals: string[] = []
    const hashes: Hex[] = []
    const send = async (place: number): Promise<void> => {
      const operation = await operationOf(`sender ${place}`).catch(() => undefined)
      if (operation === undefined) return
      await bundler.sendUserOperation({ ...operation, entryPointAddress }).then(
        (hash) => hashes.push(hash),
        (error: Error) => refusals.push(error.message.match(/Details: .*/)?.[0] ?? error.message),
      )
    }
    await Promise.all(Array.from({ length: SENDERS }, (_, place) => send(place)))
    expect(refusals).toEqual([])
    expect(hashes.length).toBeGreaterThan(SENDERS / 2)
    await Promise.all(hashes.map((hash) => bundler.waitForUserOperationReceipt({ hash })))
  })
})
