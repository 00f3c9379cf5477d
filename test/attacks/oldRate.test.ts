import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  maxUint256,
  parseAbi,
  parseUnits,
} from 'viem'
import { entryPoint06Abi } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { parseTokenData } from '../../src/paymaster/tokenData.js'
import { withBooks } from '../support/database/books.js'
import { result } from '../support/http/jsonRpc.js'
import { devAccount, TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { nodeClient } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * A quote names a rate. Its holder waits: when the token fell meanwhile, he carries the operation himself, at the
 * old rate; else he lets it end. The longest time and one operation bound what the wait is worth.
 */

const purser = useRunningPurser()
const batchAbi = parseAbi(['function executeBatch(address[] to, bytes[] data)'])

test('a rate is good for 120 s and for the gas of one operation', async () => {
  const { info, dataFolder } = purser()
  const token = tokenNamed(info, 'tUSD')
  const tank = info.tokenTanks['0.6'] as Address
  const attacker = createWalletClient({
    account: privateKeyToAccount(devKey(3)),
    chain: foundry,
    transport: http(info.rpcUrl),
  })
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [tank, maxUint256],
  })
  const callData = encodeFunctionData({
    abi: batchAbi,
    functionName: 'executeBatch',
    args: [
      [token.address, TARGET],
      [approve, '0x'],
    ],
  })
  const quoted = async (seed: string) => {
    const tools = await devAccount(info, seed)
    await giveTokens(info, token, tools.account.address, parseUnits('100', 6))
    const fees = await result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
    const draft = { ...tools.withGas(await tools.account.draft({ to: TARGET }), fees), callData }
    const answer = await result(info.paymasterUrl, 'pm_sponsorUserOperation', [
      toInterfaceOperation(draft),
      {
        mode: 'ERC20',
        calculateGasLimits: true,
        expiryDuration: 3_600,
        tokenInfo: { feeTokenAddress: token.address },
      },
    ])
    const data: Hex = answer.paymasterAndData
    const paymasterData: Hex = `0x${data.slice(42)}`
    const unsigned = { ...tools.withGas(draft, answer), paymaster: tank, paymasterData }
    const quote = parseTokenData(paymasterData)?.quote
    if (quote === undefined) throw new Error('no quote')
    return { op: await tools.sign(unsigned as Operation), quote }
  }
  const carry = async (op: Operation) => {
    const { request } = await nodeClient(info).simulateContract({
      account: attacker.account,
      abi: entryPoint06Abi,
      address: info.entryPoints['0.6'] as Address,
      functionName: 'handleOps',
      args: [[toInterfaceOperation(op) as never], attacker.account.address],
    })
    await nodeClient(info).waitForTransactionReceipt({
      hash: await attacker.writeContract(request),
    })
  }

  const now = Number((await nodeClient(info).getBlock()).timestamp)
  const used = await quoted('uses its rate')
  const waits = await quoted('waits with its rate')
  const latest = Math.max(now, Math.floor(Date.now() / 1_000)) + 130
  expect(waits.quote.validUntil).toBeLessThanOrEqual(latest)

  // In time the charge is the gas of the one operation at the rate and the markup that were quoted.
  await carry(used.op)
  const { charged, cost } = await until(() =>
    withBooks(dataFolder, (database) =>
      database
        .selectFrom('token_payments')
        .select(['charged', 'cost'])
        .where('sender', '=', used.op.sender)
        .executeTakeFirst(),
    ),
  )
  const { rate, markup } = used.quote
  expect(charged).toBe((cost * rate * BigInt(markup)) / 10n ** 24n + 1n)
  // Had the token lost a tenth meanwhile, the operator would lack 5.5 % of this operation's gas.
  const fallen = (cost * rate * 10n) / 9n / 10n ** 18n
  expect(fallen - charged).toBeLessThanOrEqual((fallen * 55n) / 1_000n + 1n)

  // Later it is worth nothing: the tank pays 0 wei, the attacker keeps his tokens and gets no gas.
  const anvil = anvilClient(info.rpcUrl)
  await anvil.increaseTime({ seconds: 131 })
  await anvil.mine({ blocks: 1 })
  await expect(carry(waits.op)).rejects.toThrow(/AA32 paymaster expired/)
  expect(await tokensOf(info, token, waits.op.sender)).toBe(parseUnits('100', 6))
})
