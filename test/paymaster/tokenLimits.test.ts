import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  type Abi,
  type Address,
  encodeFunctionData,
  erc20Abi,
  getContractAddress,
  type Hex,
  maxUint256,
  parseAbi,
  parseEther,
  parseUnits,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TokenPriceError } from '../../src/base/errors/sponsorshipErrors.js'
import { noMetrics } from '../../src/base/metrics/metrics.js'
import type { TokenDefinition } from '../../src/chain/definition/tokenDefinition.js'
import { adviseFees } from '../../src/chain/fees.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { devTokens } from '../../src/cli/devnet/devTokens.js'
import { devWallet } from '../../src/cli/devnet/devWallet.js'
import { estimateOperation } from '../../src/gas/estimateOperation.js'
import {
  createTokenPaymaster,
  type TokenPaymaster,
} from '../../src/paymaster/createTokenPaymaster.js'
import { listDecisions } from '../../src/paymaster/ledger/decisions.js'
import { promisedTokens } from '../../src/paymaster/ledger/tokenQuotes.js'
import { defaultTerms } from '../../src/paymaster/sponsorshipTerms.js'
import { createTanks } from '../../src/paymaster/tanks.js'
import type { TokenRequest } from '../../src/paymaster/tokenPayment.js'
import { createNodeEngine } from '../../src/simulation/node/nodeEngine.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import { compileSolidity } from '../support/chain/compileSolidity.js'
import { chainId, useChain } from '../support/chain/useChain.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { unsetGas } from '../support/operations/unsetGas.js'

/* What the operator's limits refuse, with real tanks and tokens on a chain of EntryPoint v0.6. */

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}
const chain = useChain()
const masterKey = randomBytes(32)
const owner = privateKeyToAddress(devKey(1))
const source = new URL('../support/contracts/OddTokens.sol', import.meta.url)
const { FeeToken } = compileSolidity(readFileSync(source, 'utf8').replace(/^pragma.*$/m, ''))
const abi = parseAbi([
  'function faucet(address to, uint256 amount)',
  'function execute(address to, uint256 value, bytes data)',
])
const devToken = devTokens[0]!.address.toLowerCase() as Address
let feeToken: Address
let appId = ''
let tank: Address

function token(address: Address, change: Partial<TokenDefinition> = {}): TokenDefinition {
  return {
    address,
    symbol: 'TOK',
    name: 'Token',
    decimals: 6,
    logoUrl: undefined,
    markup: 1_000_000,
    minimumSources: 1,
    maxDeviation: 0,
    maxExposure: undefined,
    treasury: undefined,
    extraCallGas: 0n,
    sources: [{ kind: 'fixed', perNative: 3_000n * 10n ** 18n }],
    ...change,
  }
}

function paymasterWith(
  tokens: readonly TokenDefinition[],
  rate = async () => 3_000_000_000n,
): TokenPaymaster {
  const { node, heads } = chain()
  const limits = { maxVerificationGas: 5_000_000n, maxBundleGas: 16_777_216n }
  const definition = { chainId, tokens, paymentDefaultSeconds: 60, ...limits }
  const engine = createNodeEngine({ node })
  const fees = async () => adviseFees(node, await heads.refresh(), {})
  return createTokenPaymaster({
    database: database(),
    masterKey,
    node,
    heads,
    definition,
    engine: { by: () => engine },
    fees,
    prices: { rate },
    terms: defaultTerms,
    metrics: noMetrics,
    logger: silent,
    estimate: async (entryPoint, draft) => {
      const share = { bundleSize: 1, hasBeneficiary: false }
      const context = { node, engine, definition, advice: await fees(), ...share }
      return estimateOperation(context, entryPoint, draft)
    },
  })
}

async function sendTo(to: Address, data: Hex): Promise<void> {
  const wallet = await devWallet(chain().rpcUrl)
  await wallet.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to, data }) })
}

beforeAll(async () => {
  const wallet = await devWallet(chain().rpcUrl)
  const from = wallet.account.address
  const nonce = BigInt(await wallet.getTransactionCount({ address: from }))
  const hash = await wallet.deployContract({
    abi: FeeToken!.abi as Abi,
    bytecode: FeeToken!.bytecode,
  })
  await wallet.waitForTransactionReceipt({ hash })
  feeToken = getContractAddress({ from, nonce }).toLowerCase() as Address
})

beforeEach(async () => {
  const { node, tankFactory, entryPoint } = chain()
  appId = await createApp(database())
  const definition = { chainId, pollInterval: 20, tankFactory }
  const tanks = createTanks({ database: database(), masterKey, node, definition })
  const made = await tanks.ensure(appId, entryPoint, owner, 'token')
  await tanks.deploy(made, entryPoint, localSigner(devKey(2)))
  await tanks.deposit(made, parseEther('1'), localSigner(devKey(2)))
  tank = made.address
})

/** An operation of a new account with 1,000 tokens that approves the tank without limit. */
async function request(seed: string, address: Address): Promise<TokenRequest> {
  const account = await chain().account(seed)
  const given = [account.address, parseUnits('1000', 6)] as const
  await sendTo(address, encodeFunctionData({ abi, functionName: 'faucet', args: given }))
  const args = [tank, maxUint256] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  const call = [address, 0n, data] as const
  const draft = { ...(await account.draft({ to: address })), ...unsetGas }
  const callData = encodeFunctionData({ abi, functionName: 'execute', args: call })
  return {
    appId,
    entryPoint: chain().entryPoint,
    draft: { ...draft, callData },
    calculateGasLimits: true,
    expiryDuration: undefined,
    token: address,
    permit: undefined,
    requester: undefined,
  }
}

/** Shared by all tests, as the chain is. */
function promised() {
  return promisedTokens(database(), { chainId, token: devToken }, 0n)
}

async function codes() {
  return (await listDecisions(database(), { appId }, { limit: 9, before: undefined })).items.map(
    ({ code }) => code,
  )
}

describe('the limit of exposure', () => {
  test('holds for what is promised, and frees what the same nonce is quoted again', async () => {
    const first = await request('exposed one', devToken)
    const { maxCharge } = await paymasterWith([token(devToken)]).pay(first)
    const maxExposure = (await promised()) + maxCharge / 2n
    const tight = paymasterWith([token(devToken, { maxExposure })])
    await tight.pay(first)
    const second = await request('exposed two', devToken)
    await expect(tight.pay(second)).rejects.toMatchObject({
      data: { code: 'TOKEN_EXPOSURE_REACHED', token: devToken },
    })
    expect(await codes()).toEqual(['TOKEN_EXPOSURE_REACHED', 'TOKEN_PAYMENT', 'TOKEN_PAYMENT'])
  })

  test('lets only one of two through that come at the same time', async () => {
    const asked = [await request('race one', devToken), await request('race two', devToken)]
    const alone = await request('race alone', devToken)
    const { maxCharge } = await paymasterWith([token(devToken)]).pay(alone)
    const maxExposure = (await promised()) + (maxCharge * 3n) / 2n
    const held = token(devToken, { maxExposure })
    const both = await Promise.allSettled(asked.map((each) => paymasterWith([held]).pay(each)))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})

describe('tokens and prices', () => {
  test('a token that keeps a part of each transfer is refused before anything is signed', async () => {
    const paying = paymasterWith([token(feeToken)]).pay(await request('fee token', feeToken))
    await expect(paying).rejects.toMatchObject({ data: { code: 'TOKEN_NOT_EXACT' } })
    expect(await codes()).toEqual(['TOKEN_NOT_EXACT'])
  })

  test('without a price nothing is quoted or signed; another token still is', async () => {
    const lost = token(devToken)
    const rate = async () => {
      throw new TokenPriceError(lost, 'feed is 9 s old')
    }
    const asked = await request('stale', devToken)
    const paymaster = paymasterWith([lost], rate)
    await expect(paymaster.pay(asked)).rejects.toThrow('no reliable price of TOK now: feed is 9 s')
    await expect(paymaster.quote({ ...asked, tokens: [] })).rejects.toThrow(TokenPriceError)
    expect(await codes()).toEqual(['PRICE_STALE'])
    const other = token(feeToken)
    const prices = async (of: TokenDefinition) =>
      of.address === feeToken ? 3_000_000_000n : rate()
    const both = paymasterWith([lost, other], prices as never)
    const quoted = await both.quote({ ...asked, tokens: [devToken, feeToken] })
    expect(quoted.quotes.map((each) => each.token.address)).toEqual([feeToken])
    expect(quoted.unsupported).toEqual([devToken])
  })

  test('what was quoted covers what is signed for the same operation', async () => {
    const asked = await request('quote', devToken)
    const paymaster = paymasterWith([token(devToken)])
    const { quotes, paymaster: spender } = await paymaster.quote({ ...asked, tokens: [] })
    expect(spender).toBe(tank)
    const { maxCharge } = await paymaster.pay(asked)
    expect(quotes[0]!.maxCharge).toBeGreaterThanOrEqual(maxCharge)
    expect(quotes[0]!.maxCharge).toBeLessThan(maxCharge * 3n)
  })
})

test('senders that have paid before owe no more together than half of the deposit, with what was never paid', async () => {
  const { entryPoint } = chain()
  const asked = await request('has paid', devToken)
  const { sender } = asked.draft
  const book = async (payer: Address, cost: bigint, missed: boolean) => {
    const hash: Hex = `0x${randomBytes(32).toString('hex')}`
    const place = { chain_id: BigInt(chainId), user_op_hash: hash, block_number: 1n }
    await database()
      .insertInto('token_payments')
      .values({
        ...place,
        app_id: appId,
        tank,
        sender: payer,
        token: devToken,
        charged: missed ? 0n : 1n,
        cost,
        missed,
      })
      .execute()
    await database()
      .insertInto('inclusions')
      .values({
        ...place,
        entry_point: entryPoint.address,
        sender: payer,
        nonce: 0n,
        paymaster: tank,
        success: !missed,
        actual_gas_cost: cost,
        actual_gas_used: 1n,
        reason: '0x',
        transaction_hash: hash,
        block_hash: hash,
        block_time: new Date(),
        first_log: 0,
        log_index: 0,
      })
      .execute()
  }
  // Each of the others had paid too, and was refused after its own default.
  await book(sender, 1n, false)
  const others = [0, 1, 2, 3, 4].map((each): Address => `0x${'0'.repeat(39)}${each}`)
  for (const other of others.slice(0, 4)) await book(other, parseEther('0.1'), true)
  const paymaster = paymasterWith([token(devToken)])
  await paymaster.pay(asked)
  await book(others[4]!, parseEther('0.1'), true)
  await expect(paymaster.pay(asked)).rejects.toMatchObject({ data: { code: 'ADVANCE_REACHED' } })
})

test('a token that is not taken is refused with those that are, and leaves no decision', async () => {
  const asked = await request('unsupported', devToken)
  const paymaster = paymasterWith([token(feeToken)])
  await expect(paymaster.pay(asked)).rejects.toThrow(`chain ${chainId} takes TOK ${feeToken}`)
  await expect(paymaster.pay({ ...asked, token: undefined })).rejects.toThrow(
    'tokenInfo.feeTokenAddress is required',
  )
  expect(await codes()).toEqual([])
})

test('an app without a token tank hears who makes one', async () => {
  const asked = { ...(await request('no tank', devToken)), appId: await createApp(database()) }
  await expect(paymasterWith([token(devToken)]).pay(asked)).rejects.toMatchObject({
    data: { code: 'NO_TOKEN_TANK' },
  })
})
