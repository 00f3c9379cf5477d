import {
  Contract,
  concat,
  type InterfaceAbi,
  type JsonRpcApiProvider,
  JsonRpcProvider,
  toBeHex,
  Wallet,
  WebSocketProvider,
} from 'ethers-v6'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { TARGET } from '../support/service/devAccount.js'
import { tokenNamed } from '../support/service/devTokens.js'
import { fund } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/* ethers as it is, with one URL for the chain, the bundler and the paymaster. */

const info = usePurser()
let provider: JsonRpcApiProvider

const providers = [
  ['HTTP', (url: string) => new JsonRpcProvider(url)],
  ['a WebSocket', (url: string) => new WebSocketProvider(url.replace(/^http/, 'ws'))],
] as const

const factoryAbi = [
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
]
const accountAbi = ['function execute(address dest, uint256 value, bytes func)']
const DUMMY = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`

/** The userOpHash as EntryPoint v0.7 computes it, asked by eth_call. */
async function hashOf(op: Record<string, string>): Promise<string> {
  const abi = entryPoint07Abi as unknown as InterfaceAbi
  const entryPoint = new Contract(info().entryPoints['0.7']!, abi, provider)
  const word = (value: string | undefined) => toBeHex(value ?? '0x0', 16)
  return entryPoint.getFunction('getUserOpHash')({
    sender: op.sender,
    nonce: op.nonce,
    initCode: concat([op.factory!, op.factoryData!]),
    callData: op.callData,
    accountGasLimits: concat([word(op.verificationGasLimit), word(op.callGasLimit)]),
    preVerificationGas: op.preVerificationGas,
    gasFees: concat([word(op.maxPriorityFeePerGas), word(op.maxFeePerGas)]),
    paymasterAndData:
      op.paymaster === undefined
        ? '0x'
        : concat([
            op.paymaster,
            word(op.paymasterVerificationGasLimit),
            word(op.paymasterPostOpGasLimit),
            op.paymasterData!,
          ]),
    signature: '0x',
  })
}

/** The first operation of a new account, with the fees of ethers and without limits. */
async function firstOperation(owner: Wallet): Promise<Record<string, string>> {
  const factory = new Contract(info().factories['0.7']!, factoryAbi, provider)
  const account = new Contract(TARGET, accountAbi, provider)
  const { maxFeePerGas, maxPriorityFeePerGas } = await provider.getFeeData()
  return {
    sender: await factory.getFunction('getAddress')(owner.address, 0),
    nonce: '0x0',
    factory: info().factories['0.7']!,
    factoryData: factory.interface.encodeFunctionData('createAccount', [owner.address, 0]),
    callData: account.interface.encodeFunctionData('execute', [TARGET, 0, '0x1234']),
    maxFeePerGas: toBeHex(maxFeePerGas!),
    maxPriorityFeePerGas: toBeHex(maxPriorityFeePerGas!),
    signature: DUMMY,
  }
}

async function sendAndWait(op: Record<string, string>, owner: Wallet) {
  const userOpHash = await hashOf(op)
  const signature = await owner.signMessage(Buffer.from(userOpHash.slice(2), 'hex'))
  const entryPoint = info().entryPoints['0.7']
  const sent = await provider.send('eth_sendUserOperation', [{ ...op, signature }, entryPoint])
  expect(sent).toBe(userOpHash)
  const receipt = await until(() => provider.send('eth_getUserOperationReceipt', [sent]))
  const mined = await provider.waitForTransaction(receipt.receipt.transactionHash)
  expect(mined?.status).toBe(1)
  return receipt
}

// ethers keeps a block number for 250 ms, longer than an operation takes here, and then waits for the next block:
// on a chain that stands still, for ever.
beforeAll(() => anvilClient(info().rpcUrl).setIntervalMining({ interval: 1 }))

describe.each(providers)('ethers with one URL over %s', (way, connect) => {
  beforeAll(() => {
    provider = connect(info().standardUrl)
  })
  afterAll(() => provider.destroy())

  test('knows the chain, its fees, blocks, accounts and contracts, also in one batch', async () => {
    const token = tokenNamed(info(), 'tUSD').address
    const contract = new Contract(token, ['function decimals() view returns (uint8)'], provider)
    const [network, number, fees, block, code, decimals, balance, nonce] = await Promise.all([
      provider.getNetwork(),
      provider.getBlockNumber(),
      provider.getFeeData(),
      provider.getBlock('latest'),
      provider.getCode(token),
      contract.getFunction('decimals')(),
      provider.getBalance(TARGET),
      provider.getTransactionCount(TARGET),
    ])
    expect(network.chainId).toBe(BigInt(info().chainId))
    expect(number).toBeGreaterThan(0)
    expect(fees.gasPrice).toBeGreaterThan(0n)
    expect(fees.maxFeePerGas).toBeGreaterThan(fees.maxPriorityFeePerGas!)
    expect(block?.number).toBeLessThanOrEqual(number + 1)
    expect(code.length).toBeGreaterThan(2)
    expect(decimals).toBe(6n)
    expect(balance).toBe(0n)
    expect(nonce).toBe(0)
  })

  test('sends more reads in one batch than are forwarded at once', async () => {
    const balances = Array.from({ length: 90 }, (_, at) =>
      provider.getBalance(toBeHex(at + 1, 20), 'latest'),
    )
    expect(await Promise.all(balances)).toHaveLength(90)
  })

  test('shows the error by which a call reverts', async () => {
    const token = tokenNamed(info(), 'tUSD').address
    const abi = ['function transfer(address to, uint256 amount) returns (bool)']
    const contract = new Contract(token, abi, provider)
    const calling = contract.getFunction('transfer').staticCall(TARGET, 10n ** 30n)
    await expect(calling).rejects.toMatchObject({ code: 'CALL_EXCEPTION' })
  })

  test('hears of new blocks', async () => {
    const heard = new Promise<number>((resolve) => void provider.once('block', resolve))
    const before = await provider.getBlockNumber()
    await anvilClient(info().rpcUrl).mine({ blocks: 1 })
    expect(await heard).toBeGreaterThanOrEqual(before)
  })

  test('sends a self-paid operation', async () => {
    const owner = new Wallet(keyFromSeed(`ethers self-paid ${way}`))
    const drafted = await firstOperation(owner)
    await fund(info(), drafted.sender as `0x${string}`)
    const entryPoint = info().entryPoints['0.7']
    const limits = await provider.send('eth_estimateUserOperationGas', [drafted, entryPoint])
    const { callGasLimit, verificationGasLimit, preVerificationGas } = limits
    const op = { ...drafted, callGasLimit, verificationGasLimit, preVerificationGas }
    expect(await sendAndWait(op, owner)).toMatchObject({ success: true })
  })

  test('sends a sponsored operation', async () => {
    const owner = new Wallet(keyFromSeed(`ethers sponsored ${way}`))
    const drafted = await firstOperation(owner)
    const { paymasterAndData: _, ...sponsored } = await provider.send('pm_sponsorUserOperation', [
      drafted,
      info().entryPoints['0.7'],
      {},
    ])
    const { mode: __, MODE: ___, sponsorship: ____, ...fields } = sponsored
    const receipt = await sendAndWait({ ...drafted, ...fields }, owner)
    expect(receipt.success).toBe(true)
    expect(receipt.paymaster.toLowerCase()).toBe(info().tanks['0.7'])
    expect(await provider.getBalance(drafted.sender!)).toBe(0n)
  })
})
