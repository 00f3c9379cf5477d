import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  formatEther,
  formatUnits,
  type Hex,
  http,
  maxUint256,
  parseAbi,
  parseEther,
  slice,
} from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { ConfigError } from './base/errors/configError.js'
import type { DevInfo } from './cli/devInfo.js'
import { devWallet } from './cli/devnet/devWallet.js'
import { fundAccount } from './cli/devnet/fundAccount.js'
import {
  type SimpleAccount,
  simpleAccount,
  toInterfaceOperation,
} from './cli/devnet/simpleAccount.js'
import { createEntryPoint } from './erc4337/createEntryPoint.js'
import type { Operation } from './erc4337/operation.js'

const TARGET: Address = '0x00000000000000000000000000000000000a11ce'

/** What `purser dev` wrote into its data folder, if it still runs. */
async function findService(dataFolder: string): Promise<DevInfo> {
  const file = join(dataFolder, 'dev.json')
  try {
    const info = JSON.parse(readFileSync(file, 'utf8')) as DevInfo
    await createPublicClient({ transport: http(info.rpcUrl, { retryCount: 0 }) }).getChainId()
    return info
  } catch (cause) {
    throw new ConfigError(
      `No running service found (${file}): start it with purser dev, or npm start in a clone.`,
      { cause },
    )
  }
}

/** Gas limits and fees, as far as a method answers them. */
type Limits = Partial<
  Record<
    | 'callGasLimit'
    | 'verificationGasLimit'
    | 'preVerificationGas'
    | 'maxFeePerGas'
    | 'maxPriorityFeePerGas',
    string | number
  >
>
type Sponsorship = Limits & {
  readonly paymasterAndData: Hex
  readonly sponsorship?: { readonly message: string }
}
type Quotes = {
  readonly feeQuotes: readonly { readonly maxGasFee: number; readonly symbol: string }[]
}
type Receipt = {
  readonly success: string
  readonly paymaster: Hex
  readonly actualGasCost: string
  readonly actualGasUsed: string
  readonly receipt: { readonly blockNumber: string; readonly transactionHash: Hex }
}

async function ask<Answer>(
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as {
    readonly result: Answer
    readonly error?: { readonly message: string }
  }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

function say(label: string, text: string): void {
  console.log(`  ${label.padEnd(12)} ${text}`)
}

function withAnswer(op: Operation, answer: Limits): Operation {
  return {
    ...op,
    callGasLimit: BigInt(answer.callGasLimit ?? op.callGasLimit),
    verificationGasLimit: BigInt(answer.verificationGasLimit ?? op.verificationGasLimit),
    preVerificationGas: BigInt(answer.preVerificationGas ?? op.preVerificationGas),
    maxFeePerGas: BigInt(answer.maxFeePerGas ?? op.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(answer.maxPriorityFeePerGas ?? op.maxPriorityFeePerGas),
  }
}

/** With all that the paymaster signed. */
function withPaymaster(op: Operation, answer: Sponsorship): Operation {
  return {
    ...withAnswer(op, answer),
    paymaster: slice(answer.paymasterAndData, 0, 20),
    paymasterData: slice(answer.paymasterAndData, 20),
  }
}

function sayLimits(op: Operation): void {
  say(
    'limits',
    `call ${op.callGasLimit}, verification ${op.verificationGasLimit}, preVerification ${op.preVerificationGas} gas`,
  )
}

async function follow(info: DevInfo, hash: Hex): Promise<void> {
  let state = ''
  for (;;) {
    const status = await ask<{ readonly state: string }>(
      info.bundlerUrl,
      'biconomy_getUserOperationStatus',
      [hash],
    )
    if (status.state !== state) say('status', status.state)
    state = status.state
    if (['CONFIRMED', 'FAILED', 'DROPPED_FROM_BUNDLER_MEMPOOL'].includes(state)) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const receipt = await ask<Receipt | null>(info.bundlerUrl, 'eth_getUserOperationReceipt', [hash])
  if (!receipt) throw new Error(`The operation was not included: ${state}`)
  say('block', `${receipt.receipt.blockNumber}, transaction ${receipt.receipt.transactionHash}`)
  say('success', receipt.success)
  const cost = formatEther(BigInt(receipt.actualGasCost))
  const payer = BigInt(receipt.paymaster) === 0n ? 'the account' : `the tank ${receipt.paymaster}`
  say('cost', `${receipt.actualGasUsed} gas, ${cost} ETH, paid by ${payer}`)
}

async function send(info: DevInfo, account: SimpleAccount, op: Operation): Promise<void> {
  const entryPoint = createEntryPoint('0.6', info.entryPoints['0.6'] as Address)
  const signed = await account.sign(op, entryPoint.hash(op, info.chainId))
  const hash = await ask<Hex>(info.bundlerUrl, 'eth_sendUserOperation', [
    toInterfaceOperation(signed),
    entryPoint.address,
  ])
  say('sent', `userOpHash ${hash}`)
  await follow(info, hash)
}

/** The account gets test tokens, asks for the price, and pays with them for the operation that approves it. */
async function payInTokens(info: DevInfo, account: SimpleAccount): Promise<void> {
  const [token] = info.tokens
  if (token === undefined) throw new Error('The development chain has no token.')
  const wallet = await devWallet(info.rpcUrl)
  const data = tokenCall('faucet', account.address, 100n * 10n ** BigInt(token.decimals))
  const faucetHash = await wallet.sendTransaction({ to: token.address, data })
  await wallet.waitForTransactionReceipt({ hash: faucetHash })

  const fees = await ask<Limits>(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
  const tank = info.tokenTanks['0.6'] as Address
  const call = { to: token.address, data: tokenCall('approve', tank, maxUint256) }
  const draft = withAnswer(await account.draft(call), fees)
  const { feeQuotes } = await ask<Quotes>(info.paymasterUrl, 'pm_getFeeQuoteOrData', [
    toInterfaceOperation(draft),
    { mode: 'ERC20', tokenInfo: { tokenList: [token.address] } },
  ])
  for (const { maxGasFee, symbol } of feeQuotes) say('quote', `at most ${maxGasFee} ${symbol}`)
  const answer = await ask<Sponsorship>(info.paymasterUrl, 'pm_sponsorUserOperation', [
    toInterfaceOperation(draft),
    { mode: 'ERC20', calculateGasLimits: true, tokenInfo: { feeTokenAddress: token.address } },
  ])
  const paying = withPaymaster(draft, answer)
  sayLimits(paying)
  await send(info, account, paying)
  const balance = { abi: erc20Abi, functionName: 'balanceOf', args: [account.address] } as const
  const left = await wallet.readContract({ address: token.address, ...balance })
  say('tokens', `${formatUnits(left, token.decimals)} ${token.symbol} of 100 left`)
}

const tokenAbi = parseAbi([
  'function faucet(address, uint256)',
  'function approve(address, uint256)',
])

function tokenCall(functionName: 'faucet' | 'approve', who: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: tokenAbi, functionName, args: [who, amount] })
}

/**
 * Sends one sponsored operation, one that pays its gas in tokens and one self-paid through the running
 * `purser dev` of that data folder and shows what happens to them, from the estimate to the receipt.
 * @throws ConfigError when no service has run on the folder
 */
export async function demo(dataFolder: string): Promise<void> {
  const info = await findService(dataFolder)
  const client = createPublicClient({ transport: http(info.rpcUrl) })
  const account = await simpleAccount(
    {
      read: async (to, data) => (await client.call({ to, data })).data ?? '0x',
      isDeployed: async (address) => (await client.getCode({ address })) !== undefined,
    },
    {
      ownerKey: generatePrivateKey(),
      factory: info.factories['0.6'] as Address,
      entryPoint: info.entryPoints['0.6'] as Address,
    },
  )

  console.log(`\nA new account, ${account.address}: no code yet, no ether.\n`)
  console.log('1. A sponsored operation. It deploys the account and calls a contract.')
  const fees = await ask<Limits>(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
  const draft = withAnswer(await account.draft({ to: TARGET, data: '0x1234' }), fees)
  const sponsored = await ask<Sponsorship>(info.paymasterUrl, 'pm_sponsorUserOperation', [
    toInterfaceOperation(draft),
    { mode: 'SPONSORED', calculateGasLimits: true, expiryDuration: 300 },
  ])
  const message = sponsored.sponsorship?.message ?? ''
  if (sponsored.paymasterAndData === '0x') throw new Error(message)
  const paid = withPaymaster(draft, sponsored)
  say('sponsored', message)
  sayLimits(paid)
  await send(info, account, paid)

  console.log('\n2. An operation that pays in tokens. It approves the token tank itself.')
  await payInTokens(info, account)

  console.log('\n3. A self-paid operation. The account gets 0.1 ETH and pays its own gas.')
  await fundAccount(info.rpcUrl, account.address, parseEther('0.1'))
  const selfPaid = await account.draft({ to: TARGET, value: 1n })
  const estimate = await ask<Limits>(info.bundlerUrl, 'eth_estimateUserOperationGas', [
    toInterfaceOperation(selfPaid),
    info.entryPoints['0.6'],
  ])
  const limited = withAnswer(selfPaid, estimate)
  sayLimits(limited)
  await send(info, account, limited)
  console.log()
}
