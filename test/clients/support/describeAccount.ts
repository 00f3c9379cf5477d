import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  parseAbi,
  parseUnits,
} from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  type SmartAccount,
  type UserOperationReceipt,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import { TARGET } from '../../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../../support/service/devTokens.js'
import { authorizationOf, fund, nodeClient } from '../../support/service/smartAccounts.js'

/** A smart account contract with the client that its vendor or permissionless has for it. */
export type AccountKind = {
  readonly name: string
  readonly version: Version
  /** Its client sends batches to a contract that knows none, whose fallback succeeds and does nothing. */
  readonly ignoresBatches?: true
  /** An account of a new key for every seed. */
  readonly open: (seed: string) => Promise<SmartAccount>
}

type Call = { readonly to: Address; readonly value?: bigint; readonly data?: Hex }

/** More than any of these validations needs, far less than the ceiling of the search. */
const ABSURD_GAS = 2_000_000n
const tokenAbi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)'])

function clientOf(info: DevInfo, paymasterContext?: unknown) {
  const transport = http(info.standardUrl)
  return createBundlerClient({
    chain: foundry,
    client: nodeClient(info),
    pollingInterval: 100,
    transport,
    ...(paymasterContext !== undefined && {
      paymaster: createPaymasterClient({ transport }),
      paymasterContext,
    }),
  })
}

/**
 * Sends an operation as the client does by itself: estimated with its dummy signature, signed for real
 * with these very limits, admitted, included.
 */
async function send(
  client: ReturnType<typeof clientOf>,
  account: SmartAccount,
  calls: readonly Call[],
): Promise<UserOperationReceipt> {
  const hash = await client.sendUserOperation({
    account,
    calls: [...calls],
    ...(await authorizationOf(account)),
  })
  const receipt = await client.waitForUserOperationReceipt({ hash })
  expect(receipt).toMatchObject({ success: true, userOpHash: hash })
  expect(receipt.sender.toLowerCase()).toBe(account.address.toLowerCase())
  expect(receipt.receipt.status).toBe('success')
  const { userOperation } = await client.getUserOperation({ hash })
  expect(userOperation.verificationGasLimit).toBeLessThan(ABSURD_GAS)
  expect(userOperation.callGasLimit).toBeLessThan(ABSURD_GAS)
  return receipt
}

/** What each receiver gets in the batch, in units of a token. */
const BATCHED = 1_000n

/** Addresses to which nobody else sends. */
function receiversOf({ address }: SmartAccount): readonly Address[] {
  return Array.from({ length: 10 }, (_, at): Address => {
    return `0x${(BigInt(address) ^ BigInt(at + 1)).toString(16).padStart(40, '0')}`
  })
}

/** What each account is asked to do: the first operation creates it. */
function steps(info: DevInfo, account: SmartAccount): Readonly<Record<string, readonly Call[]>> {
  const token = tokenNamed(info, 'tUSD').address
  const transfer = (to: Address, amount: bigint) => ({
    to: token,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, amount] }),
  })
  return {
    first: [{ to: TARGET, value: 0n, data: '0x1234' }],
    second: [{ to: TARGET, value: 0n, data: '0x5678' }],
    batch: receiversOf(account).map((to) => transfer(to, BATCHED)),
  }
}

/** The tests that every kind of account must pass; `place` puts its contracts on the chain. */
export function describeAccount(info: () => DevInfo, kind: AccountKind): void {
  const { name, version, open, ignoresBatches } = kind
  const prepare = async (seed: string) => {
    const account = await open(`${name} ${version} ${seed}`)
    await giveTokens(info(), tokenNamed(info(), 'tUSD'), account.address, parseUnits('500', 6))
    return account
  }

  /** An operation may succeed without its calls: the receipt alone proves no batch. */
  async function expectBatch(account: SmartAccount) {
    const token = tokenNamed(info(), 'tUSD')
    const got = receiversOf(account).map((receiver) => tokensOf(info(), token, receiver))
    expect(new Set(await Promise.all(got))).toEqual(new Set([ignoresBatches ? 0n : BATCHED]))
  }

  async function runSteps(account: SmartAccount, client: ReturnType<typeof clientOf>) {
    const receipts: UserOperationReceipt[] = []
    for (const [step, calls] of Object.entries(steps(info(), account))) {
      receipts.push(await send(client, account, calls).catch((cause) => fail(step, cause)))
    }
    expect(await account.isDeployed()).toBe(true)
    await expectBatch(account)
    return receipts
  }

  describe(`${name}, EntryPoint v${version}`, () => {
    test('pays for itself: the first operation, a second, a batch of ten', async () => {
      const account = await prepare('self-paid')
      await fund(info(), account.address)
      for (const { actualGasCost, paymaster } of await runSteps(account, clientOf(info()))) {
        expect(actualGasCost).toBeGreaterThan(0n)
        expect(BigInt(paymaster ?? 0)).toBe(0n)
      }
    })

    test('is sponsored: the first operation, a second, a batch of ten', async () => {
      const account = await prepare('sponsored')
      for (const { paymaster } of await runSteps(account, clientOf(info(), {}))) {
        expect(paymaster?.toLowerCase()).toBe(info().tanks[version])
      }
      expect(await nodeClient(info()).getBalance({ address: account.address })).toBe(0n)
    })

    test('pays in tokens: with an approval in the first operation, then by what it left, also for a batch of ten', async () => {
      const account = await prepare('tokens')
      const token = tokenNamed(info(), 'tUSD')
      const tank = info().tokenTanks[version] as Address
      const args = [tank, parseUnits('400', 6)] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
      const client = clientOf(info(), { token: token.address })
      const { first, batch } = steps(info(), account)
      for (const calls of [[{ to: token.address, data }], first!, batch!]) {
        const before = await tokensOf(info(), token, account.address)
        const { paymaster } = await send(client, account, calls)
        expect(paymaster?.toLowerCase()).toBe(tank)
        expect(await tokensOf(info(), token, account.address)).toBeLessThan(before)
      }
      await expectBatch(account)
    })
  })
}

function fail(step: string, cause: unknown): never {
  throw new Error(`the ${step} operation failed: ${(cause as Error).message}`, { cause })
}
