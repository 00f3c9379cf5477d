import { type Address, type Hex, parseUnits } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { TARGET } from '../support/service/devAccount.js'
import { createDevPolicy } from '../support/service/devPolicies.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/* Candide's abstractionkit and its CandidePaymaster, with EIP-7702 accounts of the EntryPoint's authors. */

type Authorization = { chainId: Hex; address: Address; nonce: Hex }
type Op = { eip7702Auth?: Authorization | null | undefined; signature: Hex }
type Sent = {
  included(): Promise<{ readonly success: boolean } & Paid>
}
type Paid = { readonly paymaster?: Address }

/** What the tests use of an account. */
type Account = {
  createUserOperation(
    calls: readonly { to: Address; value: bigint; data: Hex }[],
    nodeUrl: string,
    bundlerUrl: string,
    overrides: { eip7702Auth: { chainId: bigint } },
  ): Promise<Op>
  signUserOperation(op: Op, key: Hex, chainId: bigint): Hex
  sendUserOperation(op: Op, bundlerUrl: string): Promise<Sent>
}

/** What the tests use of the package. Its declarations make every address of viem a string, in this whole program. */
type Kit = {
  readonly Simple7702Account: new (address: Address, of: object) => Account
  readonly Simple7702AccountV09: new (address: Address, of: object) => Account
  readonly CandidePaymaster: new (
    url: string,
  ) => {
    getSupportedEntrypoints(): Promise<readonly Address[]>
    createSponsorPaymasterUserOperation(
      account: Account,
      op: Op,
      bundlerUrl: string,
      policyId?: string,
    ): Promise<readonly [Op, unknown]>
    createTokenPaymasterUserOperation(
      account: Account,
      op: Op,
      token: Address,
      bundlerUrl: string,
    ): Promise<Op>
  }
  createAndSignEip7702DelegationAuthorization(
    chainId: bigint,
    address: Address,
    nonce: bigint,
    key: Hex,
  ): Op['eip7702Auth']
}

const name: string = 'abstractionkit'
const kit = (await import(/* @vite-ignore */ name)) as Kit
const info = usePurser()
const calls = [{ to: TARGET, value: 0n, data: '0x1234' }] as const

function open(version: '0.8' | '0.9', seed: string) {
  const key = keyFromSeed(`abstractionkit ${version} ${seed}`)
  const address = privateKeyToAddress(key)
  const Class = version === '0.8' ? kit.Simple7702Account : kit.Simple7702AccountV09
  const account = new Class(address, { delegateeAddress: info().delegates[version] })
  return { key, address, account }
}

/** An operation with its fees and, where the account is new, its authorization. */
async function draft({ account, key }: ReturnType<typeof open>): Promise<Op> {
  const { chainId, rpcUrl, standardUrl } = info()
  const auth = { eip7702Auth: { chainId: BigInt(chainId) } }
  const op = await account.createUserOperation(calls, rpcUrl, standardUrl, auth)
  if (!op.eip7702Auth) return op
  const { address, nonce } = op.eip7702Auth
  const sign = kit.createAndSignEip7702DelegationAuthorization
  return { ...op, eip7702Auth: sign(BigInt(chainId), address, BigInt(nonce), key) }
}

async function send({ account, key }: ReturnType<typeof open>, op: Op) {
  const signature = account.signUserOperation(op, key, BigInt(info().chainId))
  const sent = await account.sendUserOperation({ ...op, signature }, info().standardUrl)
  return sent.included()
}

describe.each(['0.8', '0.9'] as const)('abstractionkit, EntryPoint v%s', (version) => {
  test('pays for itself', async () => {
    const opened = open(version, 'self-paid')
    await fund(info(), opened.address)
    for (const _ of ['delegating', 'delegated'])
      expect(await send(opened, await draft(opened))).toMatchObject({ success: true })
  })

  test('is sponsored by the CandidePaymaster', async () => {
    const opened = open(version, 'sponsored')
    const paymaster = new kit.CandidePaymaster(info().standardUrl)
    expect((await paymaster.getSupportedEntrypoints()).map((each) => each.toLowerCase())).toContain(
      info().entryPoints[version],
    )
    const removePolicy = await createDevPolicy(info(), 'sp_of_another_provider')
    for (const policy of [undefined, 'sp_of_another_provider']) {
      const { account } = opened
      const { standardUrl } = info()
      const drafted = await draft(opened)
      const [op] = await paymaster.createSponsorPaymasterUserOperation(
        account,
        drafted,
        standardUrl,
        policy,
      )
      const receipt = await send(opened, op)
      expect(receipt.success).toBe(true)
      expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks[version])
    }
    await removePolicy()
    expect(await nodeClient(info()).getBalance({ address: opened.address })).toBe(0n)
  })

  test('pays in tokens, which the CandidePaymaster approves', async () => {
    const opened = open(version, 'tokens')
    const token = tokenNamed(info(), 'tUSD')
    await giveTokens(info(), token, opened.address, parseUnits('100', 6))
    const paymaster = new kit.CandidePaymaster(info().standardUrl)
    for (const _ of ['delegating', 'delegated']) {
      const before = await tokensOf(info(), token, opened.address)
      const op = await paymaster.createTokenPaymasterUserOperation(
        opened.account,
        await draft(opened),
        token.address,
        info().standardUrl,
      )
      const receipt = await send(opened, op)
      expect(receipt.success).toBe(true)
      expect(receipt.paymaster?.toLowerCase()).toBe(info().tokenTanks[version])
      expect(await tokensOf(info(), token, opened.address)).toBeLessThan(before)
    }
  })
})
