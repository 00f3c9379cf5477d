import fc from 'fast-check'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  maxUint256,
  parseUnits,
} from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  type SmartAccount,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { beforeAll, expect, test } from 'vitest'
import { result } from '../../support/http/jsonRpc.js'
import { randomRuns } from '../../support/runs.js'
import { giveTokens, tokenNamed } from '../../support/service/devTokens.js'
import { authorizationOf, fund, nodeClient } from '../../support/service/smartAccounts.js'
import { usePurser } from '../../support/service/usePurser.js'
import { accountFamilies, placeFamilies } from '../support/accountFamilies.js'
import { type AccountCall, arbitraryCalls } from '../support/arbitraryCalls.js'
import type { AccountKind } from '../support/describeAccount.js'
import { placePlayground } from '../support/playground.js'

/*
 * What an estimate returns is admitted and included: for every account that we can get, whatever it calls and
 * no matter who pays, with the limits of the estimate as they are and the real signature.
 */

const info = usePurser()
const kinds = accountFamilies.flatMap((family) => family.kinds(info))
const payers = ['itself', 'tank', 'token tank'] as const
type Payer = (typeof payers)[number]
type Fields = Readonly<Record<string, unknown>>

const FULL_RUNS = 100
/** ms; a run takes about a second, more on a busy machine */
const TIMEOUT = 900_000

beforeAll(async () => {
  await placeFamilies(accountFamilies, info())
  await placePlayground(info().rpcUrl)
})

const token = () => tokenNamed(info(), 'tUSD')

function client() {
  const transport = http(info().standardUrl)
  return createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    pollingInterval: 50,
    transport,
  })
}

/** Lets the token tank take the tokens of its first payment and of all others. */
function approval(tank: Address): AccountCall {
  const args = [tank, maxUint256] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  return { to: token().address, value: 0n, data }
}

/** What a client that pays in this way places before its estimate, and what after it. */
function paymasterOf(payer: Payer, account: SmartAccount) {
  const paymaster = createPaymasterClient({ transport: http(info().standardUrl) })
  const context = payer === 'tank' ? {} : { token: token().address }
  const request = (fields: Fields) =>
    ({
      ...fields,
      chainId: info().chainId,
      entryPointAddress: account.entryPoint.address,
      context,
    }) as never
  const nothing = async (): Promise<Fields> => ({})
  if (payer === 'itself') return { stub: nothing, data: nothing }
  return {
    stub: async (fields: Fields): Promise<Fields> => {
      const { isFinal, sponsor, ...stub } = await paymaster.getPaymasterStubData(request(fields))
      return stub
    },
    data: async (fields: Fields): Promise<Fields> => paymaster.getPaymasterData(request(fields)),
  }
}

const limitNames = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'] as const

async function sendAsEstimated(account: SmartAccount, payer: Payer, calls: readonly AccountCall[]) {
  const bundler = client()
  const { stub, data } = paymasterOf(payer, account)
  const entryPointAddress = account.entryPoint.address
  const { factory, factoryData } = await account.getFactoryArgs()
  const isPacked = account.entryPoint.version === '0.6'
  const initCode: Hex = factory ? `${factory}${factoryData!.slice(2)}` : '0x'
  const { standard } = await result(info().standardUrl, 'biconomy_getGasFeeValues', [])
  const draft: Fields = {
    sender: account.address,
    nonce: await account.getNonce(),
    ...(isPacked ? { initCode, paymasterAndData: '0x' } : { factory, factoryData }),
    callData: await account.encodeCalls([...calls]),
    maxFeePerGas: BigInt(standard.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(standard.maxPriorityFeePerGas),
    ...(await authorizationOf(account)),
  }
  const dummy = await account.getStubSignature(draft as never)
  const stubbed: Fields = { ...draft, ...(await stub(draft)), signature: dummy }
  const request = { ...stubbed, entryPointAddress } as never
  const estimate = (await bundler.estimateUserOperationGas(request)) as Fields
  const limited: Fields = { ...stubbed, ...estimate }
  const signed = await data(limited)
  // The tank signs what the estimate said: a client may place nothing but the paymaster's fields.
  for (const name of limitNames)
    if (signed[name] !== undefined)
      expect(BigInt(signed[name] as bigint), name).toBe(estimate[name])
  const { paymaster, paymasterData, paymasterAndData } = { ...stubbed, ...signed }
  const op: Fields = isPacked
    ? { ...limited, paymasterAndData }
    : { ...limited, ...(paymaster !== undefined && { paymaster, paymasterData }) }
  const signature = await account.signUserOperation(op as never)
  const sending = { ...op, signature, entryPointAddress } as never
  const hash = await bundler.sendUserOperation(sending)
  const receipt = await bundler.waitForUserOperationReceipt({ hash })
  const { userOperation } = await bundler.getUserOperation({ hash })
  return { receipt, userOperation, estimate }
}

/** Two operations of a new account, of which the first creates it. */
async function run(
  kind: AccountKind,
  payer: Payer,
  batches: readonly AccountCall[][],
  seed: string,
) {
  const account = await kind.open(seed)
  await fund(info(), account.address)
  await giveTokens(info(), token(), account.address, parseUnits('1000', 6))
  const tank = info().tokenTanks[kind.version] as Address
  for (const [at, calls] of batches.entries()) {
    const approves = payer === 'token tank' && at === 0 ? [approval(tank)] : []
    const all = [...approves, ...calls]
    // Such an account pays in tokens only after an approval that is alone.
    const sending = kind.ignoresBatches ? all.slice(0, 1) : all
    const sent = await sendAsEstimated(account, payer, sending)
    const { receipt, userOperation, estimate } = sent
    expect(receipt).toMatchObject({ success: true, receipt: { status: 'success' } })
    for (const name of limitNames) expect(userOperation[name]).toBe(estimate[name])
    if (payer !== 'itself') expect(BigInt(receipt.paymaster ?? 0)).toBeGreaterThan(0n)
  }
}

/** SimpleAccount of v0.6 sends no value with several calls. */
function feasible({ name, version }: AccountKind, calls: readonly AccountCall[]): AccountCall[] {
  const takesValue = name !== 'SimpleAccount' || version !== '0.6' || calls.length === 1
  return calls.map((call) => ({ ...call, value: takesValue ? call.value : 0n }))
}

let accounts = 0

test(
  'what an estimate returns is admitted and included',
  async () => {
    const batches = fc.array(arbitraryCalls(token().address), { minLength: 2, maxLength: 2 })
    const numRuns = randomRuns(FULL_RUNS)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...kinds),
        fc.constantFrom(...payers),
        batches,
        async (kind, payer, calls) => {
          const seed = `estimates ${accounts++}`
          const batch = calls.map((each) => feasible(kind, each))
          await run(kind, payer, batch, seed).catch((cause) => {
            const message = `${kind.name}, v${kind.version}, paid by ${payer}: ${cause.message}`
            throw new Error(message, { cause })
          })
        },
      ),
      { numRuns, endOnFailure: true },
    )
  },
  TIMEOUT,
)
