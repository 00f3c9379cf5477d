import { createPublicClient, encodeFunctionData, erc20Abi, type Hex, http, parseAbi } from 'viem'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { TARGET } from '../support/service/devAccount.js'
import { tokenNamed } from '../support/service/devTokens.js'
import { nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/* The reads of a node as a client with one URL asks them, and what a holder of a key might try with them. */

const info = usePurser()

async function ask(method: string, params: readonly unknown[]) {
  const response = await fetch(info().standardUrl, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as {
    readonly result?: unknown
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  }
}

/** Burns all gas that it is given, then answers how much that was: GAS PUSH0 MSTORE PUSH1 32 PUSH0 RETURN. */
const GAS_TELLER: Hex = '0x5a5f5260205ff3'

describe('viem with one URL', () => {
  const client = () =>
    createPublicClient({ chain: foundry, transport: http(info().standardUrl), pollingInterval: 50 })

  test('reads the same as on the node itself', async () => {
    const direct = nodeClient(info())
    const ours = client()
    const token = tokenNamed(info(), 'tUSD').address
    const balance = { address: token, abi: erc20Abi, functionName: 'decimals' } as const
    expect(await ours.readContract(balance)).toBe(await direct.readContract(balance))
    expect(await ours.getCode({ address: token })).toBe(await direct.getCode({ address: token }))
    expect(await ours.getBalance({ address: TARGET })).toBe(
      await direct.getBalance({ address: TARGET }),
    )
    const block = await ours.getBlock({ blockNumber: 1n })
    expect(block).toEqual(await direct.getBlock({ blockNumber: 1n }))
    const [hash] = block.transactions
    expect(await ours.getTransaction({ hash: hash! })).toEqual(
      await direct.getTransaction({ hash: hash! }),
    )
    expect(await ours.getTransactionReceipt({ hash: hash! })).toEqual(
      await direct.getTransactionReceipt({ hash: hash! }),
    )
    expect(await ours.getStorageAt({ address: token, slot: '0x0' })).toBe(
      await direct.getStorageAt({ address: token, slot: '0x0' }),
    )
    expect(await ours.getLogs({ address: token, fromBlock: 1n })).toEqual(
      await direct.getLogs({ address: token, fromBlock: 1n }),
    )
    expect(
      (await ours.getFeeHistory({ blockCount: 2, rewardPercentiles: [50] })).reward,
    ).toHaveLength(2)
    expect((await ours.estimateFeesPerGas()).maxFeePerGas).toBeGreaterThan(0n)
  })

  test('shows the reason of a revert', async () => {
    const token = tokenNamed(info(), 'tUSD').address
    const spending = client().simulateContract({
      address: token,
      abi: [...erc20Abi, ...parseAbi(['error ERC20InsufficientBalance(address,uint256,uint256)'])],
      functionName: 'transfer',
      args: [TARGET, 10n ** 30n],
    })
    await expect(spending).rejects.toMatchObject({ name: 'ContractFunctionExecutionError' })
    await expect(spending).rejects.toThrow(/reverted/)
  })
})

describe('a holder of a key who wants more than a read', () => {
  test('gets no more gas than a transaction may have, whatever is asked', async () => {
    const call = { to: TARGET, gas: '0xffffffffffff' }
    const { result } = await ask('eth_call', [call, 'latest', { [TARGET]: { code: GAS_TELLER } }])
    expect(BigInt(result as Hex)).toBeLessThan(16_777_216n)
    expect(BigInt(result as Hex)).toBeGreaterThan(16_000_000n)
  })

  test.each([
    'eth_sendTransaction',
    'eth_sign',
    'debug_traceCall',
    'trace_block',
    'anvil_setBalance',
    'evm_mine',
    'hardhat_impersonateAccount',
    'personal_unlockAccount',
    'admin_peers',
    'eth_newFilter',
    'eth_getProof',
  ])('%s does not exist', async (method) => {
    expect((await ask(method, [])).error).toMatchObject({ code: -32601 })
  })

  test.each([
    ['more blocks of logs than are read at once', { fromBlock: '0x0', toBlock: '0x100000' }],
    ['logs of every contract', { address: undefined }],
    ['logs of no contract', { address: [] }],
    ['logs of too many contracts', { address: Array(21).fill(TARGET) }],
    ['logs of too many topics', { topics: [Array(21).fill(`0x${'00'.repeat(32)}`)] }],
    ['logs up to a block whose number is not known', { fromBlock: '0x0', toBlock: 'finalized' }],
  ])('may not read %s', async (_, filter) => {
    const { error } = await ask('eth_getLogs', [{ address: TARGET, ...filter }])
    expect(error).toMatchObject({ code: -32602 })
  })

  test('may not override state without bounds', async () => {
    const slots = Object.fromEntries(
      Array.from({ length: 1_001 }, (_, slot) => [`0x${slot.toString(16)}`, '0x1']),
    )
    const overrides = { [TARGET]: { stateDiff: slots } }
    expect((await ask('eth_call', [{ to: TARGET }, 'latest', overrides])).error).toMatchObject({
      code: -32602,
    })
  })

  test.each([
    ['a call with a member that is not applied', 'eth_call', [{ to: TARGET, blobs: ['0x'] }]],
    ['a call with too much data', 'eth_call', [{ to: TARGET, data: `0x${'00'.repeat(131_073)}` }]],
    ['more fee history than is read at once', 'eth_feeHistory', ['0x81', 'latest', []]],
    ['a block by what is none', 'eth_getBlockByNumber', ['newest', false]],
  ])('may not ask for %s', async (_, method, params) => {
    expect((await ask(method, params)).error).toMatchObject({ code: -32602 })
  })

  test('learns nothing about the node from a read that it refuses', async () => {
    const { error } = await ask('eth_getBalance', [TARGET, '0xffffffffff'])
    expect(error).toMatchObject({ code: -32000 })
    expect(JSON.stringify(error)).not.toMatch(/127\.0\.0\.1|anvil|reth|revm|http/i)
  })
})

test('a call that fails inside says which bytes it reverted with', async () => {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [TARGET, 10n ** 30n],
  })
  const { error } = await ask('eth_call', [{ to: tokenNamed(info(), 'tUSD').address, data }])
  const reverted = { data: expect.stringMatching(/^0x[0-9a-f]*$/) }
  expect(error).toMatchObject({ code: 3, message: 'execution reverted', data: reverted })
})
