import { type RawBuilder, sql } from 'kysely'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  formatUnits,
  type Hex,
  http,
  parseUnits,
} from 'viem'
import { createBundlerClient, createPaymasterClient } from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { beforeAll, describe, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import type { DevToken } from '../../src/cli/devnet/devTokens.js'
import { makeContent } from '../../src/records/statements/statements.js'
import { expectEntriesOfChain, withBooks } from '../support/database/books.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/* What operators see of gas that was paid in tokens, and how they take it out. */

const purser = useRunningPurser()
function info() {
  return purser().info
}
function commands() {
  return commandsOn(purser().dataFolder, { STRANGER_KEY: devKey(2) })
}
function chain() {
  return ['--chain', String(info().chainId)]
}
let token: DevToken
let tank: Address
let paid = 0n

async function books() {
  const response = await fetch(`${info().url}/admin/v1/apps/${await appId()}/tokens`, {
    headers: { authToken: info().authToken },
  })
  return (await response.json()) as { items: Record<string, string>[] }
}

async function appId(): Promise<string> {
  const response = await fetch(`${info().url}/admin/v1/apps`, {
    headers: { authToken: info().authToken },
  })
  const { items } = (await response.json()) as { items: { id: string }[] }
  return items[0]?.id ?? ''
}

beforeAll(async () => {
  token = tokenNamed(info(), 'tUSD')
  tank = info().tokenTanks['0.6'] as Address
  const account = await simpleSmartAccount(info(), '0.6', 'token books')
  await giveTokens(info(), token, account.address, parseUnits('100', 6))
  const args = [tank, parseUnits('50', 6)] as const
  const data: Hex = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  const client = createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    pollingInterval: 100,
    transport: http(info().standardUrl),
    paymaster: createPaymasterClient({ transport: http(info().standardUrl) }),
    paymasterContext: { token: token.address },
  })
  const hash = await client.sendUserOperation({ account, calls: [{ to: token.address, data }] })
  await client.waitForUserOperationReceipt({ hash })
  paid = parseUnits('100', 6) - (await tokensOf(info(), token, account.address))
})

describe('what operations paid in tokens', () => {
  test('is booked from the chain, for the app to read', async () => {
    const [book] = await until(async () => {
      const { items } = await books()
      return items.length > 0 && items
    })
    expect(book).toMatchObject({
      chainId: info().chainId,
      tank,
      token: token.address,
      collected: paid.toString(),
      held: paid.toString(),
      withdrawn: '0',
      promised: '0',
      payments: 1,
      missed: 0,
      lost: '0',
    })
  })

  test('is listed for the operator in whole tokens', async () => {
    const listed = await commands().answer('token', 'list', ...chain())
    const [, row = ''] = listed.split('\n')
    expect(row.split(/ {2,}/).slice(1, 6)).toEqual([
      'tUSD',
      tank,
      formatUnits(paid, 6),
      '0',
      formatUnits(paid, 6),
    ])
  })

  test('is recorded as a decision with rate and charge', async () => {
    const listed = await commands().answer('decision', 'list', '--code', 'TOKEN_PAYMENT')
    const [, row = ''] = listed.split('\n')
    const shown = await commands().answer('decision', 'show', row.split(' ')[0] ?? '')
    expect(shown).toContain('"rate": "3000000000"')
    expect(shown).toContain('"mode": "afterwards"')
    expect(shown).toMatch(/Takes at most [\d.]+ tUSD until/)
  })

  test('is in double entry what the chain says of tank, sender and executor', async () => {
    expect(await expectEntriesOfChain(purser().dataFolder, info(), token.address)).toBe(paid)
    expect(paid).toBeGreaterThan(0n)
  })

  test('is in a statement, with the price of the coin when it was signed', async () => {
    const range = { appId: await appId(), from: new Date(0), until: new Date(4e12) }
    await anvilClient(info().rpcUrl).mine({ blocks: 100 })
    const { content } = await until(() =>
      withBooks(purser().dataFolder, async (database) => {
        const made = await makeContent(database, range)
        return typeof made !== 'string' && made
      }),
    )
    const { lines, totals } = JSON.parse(content)
    const { rows } = await withBooks(purser().dataFolder, (database) =>
      sql<{ cost: bigint }>`select actual_gas_cost as cost from inclusions`.execute(database),
    )
    const cost = rows[0]?.cost ?? 0n
    expect(lines).toMatchObject([
      { policyId: null, token: token.address, collected: String(paid), operations: '1' },
    ])
    expect(totals).toMatchObject([{ cost: String(cost), unpriced: '0' }])
    // The development chain fixes 3,000 USD.
    const exact = (cost * 3_000_000_000n + 5n * 10n ** 17n) / 10n ** 18n
    expect(BigInt(totals[0].usd.replace('.', ''))).toBe(exact)
    expect(exact).toBeGreaterThan(0n)
  })

  const withdraw = async (...more: string[]) => {
    const app = ['--app', await appId(), '--token', 'tUSD']
    return ['token', 'withdraw', ...chain(), '--entry-point', '0.6', ...app, ...more]
  }

  test.each([
    [
      "by another key than the owner's",
      /only the owner/i,
      ['0.000001', '--key', 'env:STRANGER_KEY'],
    ],
    ['of more than there is', /less than/, ['1000']],
    ['of a part of the smallest unit', /6 decimals/, ['0.0000001']],
  ])('a withdrawal %s is refused', async (_, message, amount) => {
    expect(await commands().refusal(...(await withdraw('--amount', ...amount)))).toMatch(message)
    expect(await tokensOf(info(), token, tank)).toBe(paid)
  })

  test("leaves the tank by the owner's key", async () => {
    const to = privateKeyToAddress(generatePrivateKey())
    const amount = formatUnits(paid - 1n, 6)
    await commands().answer(...(await withdraw('--amount', amount, '--to', to)))
    expect(await tokensOf(info(), token, to)).toBe(paid - 1n)
    const [book] = (await books()).items
    expect(book).toMatchObject({ held: '1', withdrawn: (paid - 1n).toString() })
  })
})

test('the ledger is what the chain says, of tokens too, and one unit more is found', async () => {
  const answer = await commands().answer('ledger', 'verify')
  expect(answer).toMatch(/^tokens +0x\w+ +1 .* ok$/m)
  expect(answer).toMatch(/^charges .* ok$/m)
  expect(answer).toContain('The ledger is what the chains say.')
  const add = (units: number) =>
    withBooks(purser().dataFolder, (database) =>
      sql`update token_payments set charged = charged + ${units}`.execute(database),
    )
  await add(1)
  const found = await commands().run('ledger', 'verify', '--json')
  await add(-1)
  const { ok, chains } = JSON.parse(found.stdout) as {
    ok: boolean
    chains: { accounts: { kind: string; first?: { text: string } }[] }[]
  }
  expect([found.code, ok]).toEqual([1, false])
  const wrong = chains.flatMap(({ accounts }) => accounts.filter(({ first }) => first))
  expect(wrong.map(({ kind, first }) => [kind, first?.text])).toEqual([
    ['tokens', `${paid + 1n} units are booked, and the tank took ${paid}`],
  ])
})

test('a chain of the ledger that is configured no more is named, and keeps no other from being verified', async () => {
  const change = (statement: RawBuilder<unknown>) =>
    withBooks(purser().dataFolder, (database) => statement.execute(database))
  await change(sql`insert into chain_blocks (chain_id, number, hash) values (5, 1, '0x01')`)
  const { code, stdout, stderr } = await commands().run('ledger', 'verify')
  await change(sql`delete from chain_blocks where chain_id = 5`)
  expect([code, stderr.trim()]).toEqual([0, 'Chain 5 is not configured: it was not compared.'])
  expect(stdout).toContain(`chain ${info().chainId}: logs from block`)
})

test('the shared token tank is made by its own command', async () => {
  const flags = ['--shared', '--kind', 'token', '--entry-point', '0.6']
  const shared = ['tank', 'create', ...flags, ...chain()]
  expect(labelled(await commands().answer(...shared), 'deposit')).toBe('0 ETH')
})

test('a tank of no known kind is refused', async () => {
  const create = ['tank', 'create', '--shared', '--kind', 'other', ...chain()]
  expect(await commands().refusal(...create)).toMatch(/gas or token/)
})
