import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  maxUint256,
  parseUnits,
} from 'viem'
import { entryPoint06Abi } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { expect, test } from 'vitest'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type AccountCall, toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { withBooks } from '../support/database/books.js'
import { type Json, result, rpc } from '../support/http/jsonRpc.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { leaveDeposit } from '../support/service/leaveDeposit.js'
import { nodeClient } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { batch, Trap } from '../support/tanks/trap.js'
import { until } from '../support/until.js'

/*
 * In mode `afterwards` a token tank pays first. The attacker's operations leave the tokens in each simulation,
 * and spend them when he carries them to the chain himself: the tank pays their gas to him and gets nothing.
 * New senders cost him nothing, so what the tank can lose has a bound.
 */

const THIEF: Address = '0x000000000000000000000000000000000000dead'
/** Operations that the deposit of the tank pays. */
const CAPACITY = 24n

const purser = useRunningPurser()

/** Takes back what `owner` lets the tank take, so that its next operation has to allow it. */
async function disallow(info: DevInfo, token: Address, owner: Address, tank: Address) {
  const anvil = anvilClient(info.rpcUrl)
  await anvil.setBalance({ address: owner, value: 10n ** 18n })
  await anvil.impersonateAccount({ address: owner })
  const wallet = createWalletClient({
    account: owner,
    chain: foundry,
    transport: http(info.rpcUrl),
  })
  const hash = await wallet.writeContract({
    abi: erc20Abi,
    address: token,
    functionName: 'approve',
    args: [tank, 0n],
  })
  await nodeClient(info).waitForTransactionReceipt({ hash })
}

test('gas that nobody paid for is at most a quarter of the deposit; who paid before is served on', async () => {
  const { info, dataFolder } = purser()
  const token = tokenNamed(info, 'tUSD')
  const tank = info.tokenTanks['0.6'] as Address
  const entryPoint = info.entryPoints['0.6'] as Address
  const attacker = createWalletClient({
    account: privateKeyToAccount(devKey(3)),
    chain: foundry,
    transport: http(info.rpcUrl),
  })
  const mined = async (hash: Hex) => nodeClient(info).waitForTransactionReceipt({ hash })
  const approve = (spender: Address): AccountCall => ({
    to: token.address,
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [spender, maxUint256],
    }),
  })
  const depositOf = () =>
    nodeClient(info).readContract({
      address: entryPoint,
      abi: entryPoint06Abi,
      functionName: 'balanceOf',
      args: [tank],
    })

  /** Asks for a quote for an operation of a sender that holds tokens, which is signed when it is granted. */
  const quoted = async (
    seed: string,
    callData: Hex,
  ): Promise<{ op: Operation; error?: undefined } | { op?: undefined; error: Json }> => {
    const tools = await devAccount(info, seed)
    if ((await tokensOf(info, token, tools.account.address)) === 0n)
      await giveTokens(info, token, tools.account.address, parseUnits('100', 6))
    const fees = await result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
    const draft = { ...tools.withGas(await tools.account.draft({ to: TARGET }), fees), callData }
    const tokenInfo = { feeTokenAddress: token.address }
    const { body } = await rpc(info.paymasterUrl, 'pm_sponsorUserOperation', [
      toInterfaceOperation(draft),
      { mode: 'ERC20', calculateGasLimits: true, tokenInfo },
    ])
    if (body.error) return { error: body.error }
    const data: Hex = body.result.paymasterAndData
    // Mode `afterwards`.
    expect(data.slice(42, 44)).toBe('01')
    const paid = { paymaster: data.slice(0, 42) as Address, paymasterData: `0x${data.slice(42)}` }
    return { op: await tools.sign({ ...tools.withGas(draft, body.result), ...paid } as Operation) }
  }

  const { contractAddress } = await mined(
    await attacker.deployContract({ abi: Trap!.abi, bytecode: Trap!.bytecode }),
  )
  const trap = contractAddress as Address
  const arm = async (on: boolean) =>
    mined(
      await attacker.writeContract({
        abi: Trap!.abi,
        address: trap,
        functionName: 'arm',
        args: [on],
      }),
    )
  const spring = encodeFunctionData({
    abi: Trap!.abi,
    functionName: 'spring',
    args: [token.address, THIEF],
  })
  const spending = batch(approve(tank), approve(trap), { to: trap, data: spring })

  // An honest user, who paid once.
  const honest = await quoted('honest', batch(approve(tank), { to: TARGET }))
  const { body } = await rpc(info.bundlerUrl, 'eth_sendUserOperation', [
    toInterfaceOperation(honest.op!),
    entryPoint,
  ])
  await receiptOf(info, body.result)
  await disallow(info, token.address, honest.op!.sender, tank)

  const { op: probe } = await quoted('probe', spending)
  const { max_cost: cost } = await withBooks(dataFolder, (database) =>
    database
      .selectFrom('reservations')
      .select('max_cost')
      .where('sender', '=', probe!.sender)
      .executeTakeFirstOrThrow(),
  )
  const deposit = cost * CAPACITY
  await leaveDeposit(info, entryPoint, tank, deposit)

  let refusal: Json
  const missed: Address[] = []
  for (let round = 0; round < 4; round++) {
    const ops: Operation[] = []
    for (let sender = 0; ops.length < Number(CAPACITY); sender++) {
      const { op, error } = await quoted(`spends ${round} ${sender}`, spending)
      refusal = error
      if (op === undefined) break
      ops.push(op)
    }
    expect(refusal?.data).toMatchObject({ code: 'ADVANCE_REACHED' })
    expect(BigInt(ops.length) * cost).toBeLessThanOrEqual(deposit / 4n + cost / 4n)
    if (ops.length === 0) break
    await arm(true)
    const hash = await attacker.writeContract({
      abi: entryPoint06Abi,
      address: entryPoint,
      functionName: 'handleOps',
      args: [ops.map((op) => toInterfaceOperation(op) as never), attacker.account.address],
      gas: 15_000_000n,
    })
    expect((await mined(hash)).status).toBe('success')
    await arm(false)
    missed.push(...ops.map(({ sender }) => sender))
    await until(async () => {
      const { length } = await withBooks(dataFolder, (database) =>
        database.selectFrom('token_payments').select('sender').where('missed', '=', true).execute(),
      )
      return length === missed.length || undefined
    })
  }
  const loss = deposit - (await depositOf())
  expect(missed.length).toBeGreaterThan(0)
  expect(loss).toBeGreaterThan(0n)
  expect(loss).toBeLessThanOrEqual(deposit / 4n)
  expect(await tokensOf(info, token, THIEF)).toBe(0n)
  expect(refusal?.message).toMatch(/Approve the tank beforehand or by a permit/)

  // The attacker has used up what new senders may owe; the honest user owes on.
  const { error } = await quoted('honest', batch(approve(tank), { to: TARGET }))
  expect(error).toBeUndefined()
})
