import { createDelegation, createExecution, ScopeType } from '@metamask/smart-accounts-kit'
import { DelegationManager } from '@metamask/smart-accounts-kit/contracts'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  parseUnits,
  zeroHash,
} from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  type SmartAccount,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { beforeAll, expect, test } from 'vitest'
import { TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { nodeClient } from '../support/service/smartAccounts.js'
import { createDevPolicy } from '../support/service/devPolicies.js'
import { usePurser } from '../support/service/usePurser.js'
import { metamaskFamily } from './support/metamaskFamily.js'

/* MetaMask's kit and contracts: an account transfers the tokens of another one, which delegated it (ERC-7710). */

type Delegation = ReturnType<typeof createDelegation>
type Delegator = SmartAccount & {
  readonly environment: Parameters<typeof createDelegation>[0]['environment']
  signDelegation(signed: { delegation: Delegation }): Promise<Hex>
}

const info = usePurser()
const MOST = 1_000n

beforeAll(() => metamaskFamily.place(info()))

async function open(seed: string): Promise<Delegator> {
  const [hybrid] = metamaskFamily.kinds(info)
  return (await hybrid!.open(seed)) as Delegator
}

test('a policy judges the call that a redeemed delegation makes, and its enforcers', async () => {
  const token = tokenNamed(info(), 'tUSD')
  const transport = http(info().standardUrl)
  const client = createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    pollingInterval: 100,
    transport,
    paymaster: createPaymasterClient({ transport }),
  })
  const send = async (account: SmartAccount, to: Address, data: Hex) => {
    const hash = await client.sendUserOperation({ account, calls: [{ to, data }] })
    return client.waitForUserOperationReceipt({ hash })
  }
  const [delegator, delegate] = await Promise.all([open('delegator'), open('delegate')])
  await giveTokens(info(), token, delegator.address, parseUnits('10', 6))
  expect(await send(delegator, TARGET, '0x1234')).toMatchObject({ success: true })

  const { environment } = delegator
  const delegation = createDelegation({
    environment,
    from: delegator.address,
    to: delegate.address,
    salt: zeroHash,
    scope: {
      type: ScopeType.Erc20TransferAmount,
      tokenAddress: token.address,
      maxAmount: parseUnits('10', 6),
    },
  })
  const signature = await delegator.signDelegation({ delegation })
  const redeem = (amount: bigint) => {
    const args = [TARGET, amount] as const
    const callData = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
    const data = DelegationManager.encode.redeemDelegations({
      delegations: [[{ ...delegation, signature }]],
      modes: [zeroHash as never],
      executions: [[createExecution({ target: token.address, callData })]],
    })
    return send(delegate, environment.DelegationManager, data)
  }

  const allow = [
    { target: environment.DelegationManager },
    {
      target: token.address,
      function: 'transfer(address,uint256)',
      where: { 1: { $lte: `${MOST}` } },
    },
  ]
  const enforcers = delegation.caveats.map(({ enforcer }) => ({ target: enforcer }))
  expect(enforcers.length).toBeGreaterThan(0)
  const withPolicy = async (calls: object, run: () => Promise<void>) => {
    const remove = await createDevPolicy(info(), 'delegated', { calls })
    await run()
    await remove()
  }
  const before = await tokensOf(info(), token, TARGET)
  await withPolicy({ allow }, async () => {
    await expect(redeem(MOST)).rejects.toThrow(new RegExp(enforcers[0]!.target, 'i'))
  })
  await withPolicy({ allow: [...allow, ...enforcers] }, async () => {
    await expect(redeem(MOST + 1n)).rejects.toThrow(
      new RegExp(`for delegator ${delegator.address}`, 'i'),
    )
    expect(await tokensOf(info(), token, TARGET)).toBe(before)
    const receipt = await redeem(MOST)
    expect(receipt).toMatchObject({ success: true })
    expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks['0.7'])
  })
  // The delegator's tokens have moved, by the delegate's operation.
  expect((await tokensOf(info(), token, TARGET)) - before).toBe(MOST)
  expect(await tokensOf(info(), token, delegator.address)).toBe(parseUnits('10', 6) - MOST)
})
