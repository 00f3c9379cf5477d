import {
  type Address,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  getContractAddress,
  type Hex,
  http,
  maxUint256,
  parseUnits,
} from 'viem'
import { createPaymasterClient, entryPoint06Abi } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import type { DevToken } from '../../src/cli/devnet/devTokens.js'
import { type AccountCall, toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { compileSolidity } from '../support/chain/compileSolidity.js'
import { result, rpc } from '../support/http/jsonRpc.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'
import { batch, Trap } from '../support/tanks/trap.js'
import { until } from '../support/until.js'

/* Senders that try to have gas for nothing, against the running service (EntryPoint v0.6). */

const info = usePurser()
let token: DevToken
let tank: Address

beforeAll(() => {
  token = tokenNamed(info(), 'tUSD')
  tank = info().tokenTanks['0.6'] as Address
})

function approve(spender: Address, amount: bigint): AccountCall {
  const args = [spender, amount] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  return { to: token.address, data }
}

async function open(seed: string, tokens = parseUnits('100', 6)) {
  const tools = await devAccount(info(), seed)
  await giveTokens(info(), token, tools.account.address, tokens)
  const ask = async (callData: Hex, more = {}) => {
    const fees = await result(info().bundlerUrl, 'biconomy_getGasFeeValues', [])
    const draft = { ...tools.withGas(await tools.account.draft({ to: TARGET }), fees), callData }
    const tokenInfo = { feeTokenAddress: token.address }
    const mode = { mode: 'ERC20', calculateGasLimits: true, tokenInfo, ...more }
    const { body } = await rpc(info().paymasterUrl, 'pm_sponsorUserOperation', [
      toInterfaceOperation(draft),
      mode,
    ])
    return { draft, body }
  }
  /** Quoted, with everything that the service signed. */
  const paying = async (callData: Hex, more = {}): Promise<Operation> => {
    const { draft, body } = await ask(callData, more)
    if (body.error) throw new Error(body.error.message)
    const data: Hex = body.result.paymasterAndData
    const paymaster = data.slice(0, 42) as Address
    return { ...tools.withGas(draft, body.result), paymaster, paymasterData: `0x${data.slice(42)}` }
  }
  const submit = async (op: Operation) => {
    const { body } = await rpc(info().bundlerUrl, 'eth_sendUserOperation', [
      toInterfaceOperation(await tools.sign(op)),
      tools.entryPoint,
    ])
    return body
  }
  return { ...tools, ask, paying, submit }
}

function wallet() {
  return createWalletClient({
    account: privateKeyToAccount(devKey(3)),
    chain: foundry,
    transport: http(info().rpcUrl),
  })
}

function approving() {
  return batch(approve(tank, maxUint256), { to: TARGET })
}

describe('a quote is good for the very operation that it was signed for', () => {
  const altered: [name: string, alter: (op: Operation) => Operation][] = [
    [
      'another rate',
      (op) => {
        const at = 2 + 2 * 52
        const low = Number.parseInt(op.paymasterData.slice(at, at + 2), 16) ^ 1
        const byte = low.toString(16).padStart(2, '0')
        const data = `${op.paymasterData.slice(0, at)}${byte}${op.paymasterData.slice(at + 2)}`
        return { ...op, paymasterData: data as Hex }
      },
    ],
    ['inflated limits', (op) => ({ ...op, callGasLimit: op.callGasLimit * 2n })],
    ['lower fees', (op) => ({ ...op, maxFeePerGas: op.maxFeePerGas - 1n })],
    ['another call', (op) => ({ ...op, callData: batch(approve(tank, 1n)) })],
    ['another nonce', (op) => ({ ...op, nonce: 1n << 64n })],
  ]

  test.each(altered)('%s is refused', async (name, alter) => {
    const { paying, submit } = await open(`altered ${name}`)
    const body = await submit(alter(await paying(approving())))
    expect(body.error?.message).toMatch(/AA34|AA33/)
  })

  test('it pays once', async () => {
    const { paying, submit, account } = await open('replay')
    const op = await paying(approving())
    const { result: hash } = await submit(op)
    await receiptOf(info(), hash)
    const left = await tokensOf(info(), token, account.address)
    expect(left).toBeLessThan(parseUnits('100', 6))
    await submit(op)
    const body = await submit({ ...op, nonce: op.nonce + 1n })
    expect(body.error?.message).toMatch(/AA/)
    expect(await tokensOf(info(), token, account.address)).toBe(left)
  })

  test('a sender of another account cannot use it', async () => {
    const victim = await open('victim')
    const thief = await open('thief')
    const { paymaster, paymasterData } = await victim.paying(approving())
    const own = await thief.paying(approving())
    const body = await thief.submit({ ...own, paymaster, paymasterData })
    expect(body.error?.message).toMatch(/AA34|AA33/)
  })
})

test('an approval below the most that the operation may cost is refused with the amount', async () => {
  const { ask } = await open('approves too little')
  const { body } = await ask(batch(approve(tank, 1_000n)))
  expect(body.error?.data).toMatchObject({ code: 'TOKEN_ALLOWANCE_TOO_LOW' })
  expect(body.error?.message).toMatch(/may take 0\.001 tUSD.*at least [\d.]+ tUSD/)
})

test('a balance below the charge is refused with the charge that a richer sender pays', async () => {
  const { ask, account } = await open('poor', 1n)
  const { body } = await ask(approving())
  expect(body.error?.data).toMatchObject({ code: 'TOKEN_BALANCE_TOO_LOW' })
  const [, named, has] = /may cost ([\d.]+) tUSD, the sender has ([\d.]+) tUSD/.exec(
    body.error?.message ?? '',
  )!
  expect(has).toBe('0.000001')
  const charge = parseUnits(named!, 6)
  // A quote is rounded up, and the fees move a little from block to block.
  await giveTokens(info(), token, account.address, charge / 2n)
  expect((await ask(approving())).body.error?.data).toMatchObject({ code: 'TOKEN_BALANCE_TOO_LOW' })
  await giveTokens(info(), token, account.address, (charge * 6n) / 10n)
  expect((await ask(approving())).body.error).toBeUndefined()
})

test('an operation that revokes its approval is refused', async () => {
  const { ask } = await open('revokes')
  const { body } = await ask(batch(approve(tank, maxUint256), approve(tank, 0n)))
  expect(body.error?.data).toMatchObject({ code: 'TOKEN_ALLOWANCE_TOO_LOW' })
})

test('fees far above the market are refused, for they would sell the deposit', async () => {
  const { account } = await open('fees')
  const draft = await account.draft({ to: TARGET })
  const op = { ...draft, callData: approving(), maxFeePerGas: 10n ** 15n }
  const mode = { mode: 'ERC20', tokenInfo: { feeTokenAddress: token.address } }
  const asked = [toInterfaceOperation(op), mode]
  const { body } = await rpc(info().paymasterUrl, 'pm_sponsorUserOperation', asked)
  expect(body.error?.data).toMatchObject({ code: 'TERMS_REFUSED' })
})

test('who spends the tokens in the operation gets it by another bundler only, once', async () => {
  const { client, entryPoint, ask, paying, submit, sign, sponsored, send } = await open('spends')
  const thief: Address = '0x000000000000000000000000000000000000dead'
  const { account: owner } = wallet()
  const nonce = await client.getTransactionCount({ address: owner.address })
  const trap = getContractAddress({ from: owner.address, nonce: BigInt(nonce) })
  const mined = async (hash: Hex) => client.waitForTransactionReceipt({ hash })
  const arm = async (on: boolean) => {
    const call = { abi: Trap!.abi, address: trap, functionName: 'arm', args: [on] }
    return mined(await wallet().writeContract(call))
  }
  await mined(await wallet().deployContract({ abi: Trap!.abi, bytecode: Trap!.bytecode }))
  const allowed = await send(await sponsored(approve(trap, maxUint256)))
  await receiptOf(info(), allowed)

  const args = [token.address, thief]
  const spring = encodeFunctionData({ abi: Trap!.abi, functionName: 'spring', args })
  const spending = batch(approve(tank, maxUint256), { to: trap, data: spring })
  const op = await sign(await paying(spending))
  await arm(true)
  // Our own service runs it whole before it signs, and before it takes it.
  const refused = (await ask(spending)).body.error
  expect(refused?.data).toMatchObject({ code: 'CHARGE_FAILS' })
  expect((await submit(op)).error?.message).toMatch(/revert|PaymentRefused/i)
  const hash = await wallet().writeContract({
    abi: entryPoint06Abi,
    address: entryPoint,
    functionName: 'handleOps',
    args: [[toInterfaceOperation(op) as never], owner.address],
  })
  expect((await mined(hash)).status).toBe('success')
  await arm(false)
  expect(await tokensOf(info(), token, thief)).toBe(0n)

  const again = () => ask(batch(approve(tank, maxUint256), { to: TARGET }))
  const defaulted = async () => (await again()).body.error?.data?.code === 'SENDER_DEFAULTED'
  await until(defaulted)
  expect((await again()).body.error?.message).toMatch(/Until .*approve the token tank before/)

  await receiptOf(info(), await send(await sponsored(approve(tank, maxUint256))))
  const trusted = await paying(batch({ to: TARGET }))
  expect(trusted.paymasterData.slice(2, 4)).toBe('00')
  const { result: paid } = await submit(trusted)
  expect((await receiptOf(info(), paid)).success).toBe('true')
})

/** A token whose transfers take more gas than the tank's postOp has, and that is the one at CODE in all else. */
const { Expensive } = compileSolidity(`
contract Expensive {
    address constant CODE = 0x000000000000000000000000000000000000c0DE;
    fallback() external {
        if (msg.sig == 0x23b872dd) {
            uint256 rest = gasleft() - 60000;
            while (gasleft() > rest) {}
        }
        (bool done, bytes memory result) = CODE.delegatecall(msg.data);
        assembly {
            if done { return(add(result, 32), mload(result)) }
            revert(add(result, 32), mload(result))
        }
    }
}`)

test("a token whose transfer takes more gas than the tank's postOp has is refused with that gas", async () => {
  const chain = createTestClient({ mode: 'anvil', chain: foundry, transport: http(info().rpcUrl) })
  const account = await simpleSmartAccount(info(), '0.7', 'expensive token')
  await giveTokens(info(), token, account.address, parseUnits('500', 6))
  const code = (await nodeClient(info()).getCode(token))!
  await chain.setCode({ address: '0x000000000000000000000000000000000000c0de', bytecode: code })
  await chain.setCode({ address: token.address, bytecode: Expensive!.runtime })
  await chain.mine({ blocks: 1 })
  const calls = [approve(info().tokenTanks['0.7'] as Address, maxUint256)]
  const asked = createPaymasterClient({ transport: http(info().standardUrl) }).getPaymasterData({
    sender: account.address,
    nonce: 0n,
    ...(await account.getFactoryArgs()),
    callData: await account.encodeCalls(calls),
    maxFeePerGas: 1_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
    chainId: info().chainId,
    entryPointAddress: account.entryPoint.address,
    context: { token: token.address },
  })
  await expect(asked).rejects.toThrow(
    /the 42000 gas of the tank's postOp are too few for tUSD on this chain/,
  )
})
