import { toSafeSmartAccount, toThirdwebSmartAccount } from 'permissionless/accounts'
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import {
  formatUserOperationRequest,
  type SmartAccount,
  type UserOperation,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import { type Json, result, rpc } from '../../support/http/jsonRpc.js'
import { TARGET } from '../../support/service/devAccount.js'
import { giveTokens, tokenNamed } from '../../support/service/devTokens.js'
import { nodeClient } from '../../support/service/smartAccounts.js'
import { usePurser } from '../../support/service/usePurser.js'
import { until } from '../../support/until.js'
import { placeSafe } from '../support/placeSafe.js'
import { placeThirdweb } from '../support/placeThirdweb.js'

/*
 * What clients do with the limits of a tank, each as a client of its kind does it, on real accounts: one
 * that keeps its own limits signs others than the tank unless both agree (AA34).
 */

const info = usePurser()
let safe: SmartAccount
let thirdweb: SmartAccount

beforeAll(async () => {
  const { rpcUrl, entryPoints } = info()
  await placeSafe(rpcUrl)
  await placeThirdweb(rpcUrl)
  const client = nodeClient(info())
  const owner = (name: string) => privateKeyToAccount(keyFromSeed(`tank limits, ${name}`))
  const entryPoint = (version: '0.6' | '0.7') =>
    ({ address: entryPoints[version] as Address, version }) as const
  safe = (await toSafeSmartAccount({
    client,
    entryPoint: entryPoint('0.7'),
    version: '1.4.1',
    owners: [owner('Safe')],
  } as never)) as SmartAccount
  thirdweb = (await toThirdwebSmartAccount({
    client,
    entryPoint: entryPoint('0.6'),
    owner: owner('thirdweb'),
  } as never)) as SmartAccount
  for (const { address } of [safe, thirdweb])
    await giveTokens(info(), tokenNamed(info(), 'tUSD'), address, 10_000_000n)
})

type Fields = Partial<UserOperation> & Record<string, unknown>

const call = (method: string, ...params: unknown[]): Promise<Json> =>
  result(info().standardUrl, method, params)

const asJson = (op: Fields) => formatUserOperationRequest(op as UserOperation) as object

/** An operation without limits, with the dummy signature, that makes `count` transfers of tokens. */
async function prepare(account: SmartAccount, count: number): Promise<Fields> {
  const abi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)'])
  const to = tokenNamed(info(), 'tUSD').address
  const calls = Array.from({ length: count }, (_, at) => {
    const receiver: Address = `0x${(BigInt(account.address) ^ BigInt(at + 1)).toString(16).padStart(40, '0')}`
    const args = [receiver, 1_000n] as const
    return { to, data: encodeFunctionData({ abi, functionName: 'transfer', args }) }
  })
  const { standard } = await call('biconomy_getGasFeeValues')
  const { factory, factoryData } = await account.getFactoryArgs()
  const isPacked = account.entryPoint.version === '0.6'
  const initCode: Hex =
    factory === undefined ? '0x' : `0x${factory.slice(2)}${factoryData?.slice(2)}`
  return {
    sender: account.address,
    nonce: await account.getNonce(),
    ...(isPacked ? { initCode, paymasterAndData: '0x' } : { factory, factoryData }),
    callData: await account.encodeCalls(calls.length > 0 ? calls : [{ to: TARGET }]),
    maxFeePerGas: BigInt(standard.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(standard.maxPriorityFeePerGas),
    signature: await account.getStubSignature(),
  } as Fields
}

/** Hex quantities of an answer as bigints, without the names in `except`. */
function quantities(answer: Json, names: readonly string[]): Record<string, bigint> {
  return Object.fromEntries(names.map((name) => [name, BigInt(answer[name])]))
}

const ownLimits = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'] as const
const tankLimits = ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'] as const

async function sendSigned(account: SmartAccount, op: Fields): Promise<Json> {
  const signature = await account.signUserOperation(op as never)
  const hash = await call(
    'eth_sendUserOperation',
    asJson({ ...op, signature }),
    account.entryPoint.address,
  )
  return until(() => call('eth_getUserOperationReceipt', hash))
}

describe('a client that keeps the limits of its estimate', () => {
  test('v0.7: it drops the limits of the stub, and the tank signs those of the estimate', async () => {
    const entryPoint = safe.entryPoint.address
    const op = await prepare(safe, 1)
    const stub = await call('pm_getPaymasterStubData', asJson(op), entryPoint, '0x7a69', {})
    for (const name of tankLimits) expect(BigInt(stub[name])).toBeGreaterThan(0n)
    const { paymaster, paymasterData } = stub
    const paid: Fields = { ...op, paymaster, paymasterData }
    const estimate = await call('eth_estimateUserOperationGas', asJson(paid), entryPoint)
    for (const name of tankLimits) expect(BigInt(estimate[name])).toBe(BigInt(stub[name]))
    const limited = { ...paid, ...quantities(estimate, [...ownLimits, ...tankLimits]) }
    const data = await call('pm_getPaymasterData', asJson(limited), entryPoint, '0x7a69', {})
    const signed = { ...limited, paymasterData: data.paymasterData }
    expect(await sendSigned(safe, signed)).toMatchObject({ success: true, paymaster })
  })

  test('v0.7: however many bytes of the time are zero when it asks for the stub', async () => {
    const entryPoint = safe.entryPoint.address
    const op = await prepare(safe, 1)
    /** A sponsorship that ends `second` seconds after a time that is a multiple of 256. */
    const endingAt = (second: number) => {
      const now = Math.floor(Date.now() / 1_000)
      return { mode: 'SPONSORED', expiryDuration: 512 + second - (now % 256) }
    }
    const params = (draft: Fields, context: object) =>
      [asJson(draft), entryPoint, '0x7a69', context] as const
    const stub = await call('pm_getPaymasterStubData', ...params(op, endingAt(0)))
    const { paymaster, paymasterData } = stub
    const paid: Fields = { ...op, paymaster, paymasterData, ...quantities(stub, tankLimits) }
    const estimate = await call('eth_estimateUserOperationGas', asJson(paid), entryPoint)
    const limited = { ...paid, ...quantities(estimate, ownLimits) }
    const data = await call('pm_getPaymasterData', ...params(limited, endingAt(128)))
    const signed = { ...limited, paymasterData: data.paymasterData }
    expect(await sendSigned(safe, signed)).toMatchObject({ success: true, paymaster })
  })

  test.each(['v0.6', 'v0.7'])(
    '%s: it estimates without a paymaster, and places nothing but the paymaster',
    async (name) => {
      const account = name === 'v0.6' ? thirdweb : safe
      for (const count of [0, 10]) {
        const op = await prepare(account, count)
        const { address } = account.entryPoint
        const estimate = await call('eth_estimateUserOperationGas', asJson(op), address)
        const limited = { ...op, ...quantities(estimate, ownLimits) }
        const mode = { mode: 'SPONSORED', calculateGasLimits: false }
        const answer = await call('pm_sponsorUserOperation', asJson(limited), address, mode)
        expect(quantities(answer, ownLimits)).toEqual(quantities(estimate, ownLimits))
        const { paymasterAndData, paymaster, paymasterData } = answer
        const placed =
          name === 'v0.6'
            ? { paymasterAndData }
            : { paymaster, paymasterData, ...quantities(answer, tankLimits) }
        const receipt = await sendSigned(account, { ...limited, ...placed } as Fields)
        expect(receipt).toMatchObject({ success: true })
      }
    },
  )
})

describe('a client that sends limits of its own', () => {
  /** As userop.js, which sends them always and takes those of the answer. */
  const constant = {
    callGasLimit: 35_000n,
    verificationGasLimit: 210_000n,
    preVerificationGas: 21_000n,
  }

  test('gets those raised with which the operation would fail', async () => {
    const op = { ...(await prepare(thirdweb, 10)), ...constant }
    const { address } = thirdweb.entryPoint
    const answer = await call('pm_sponsorUserOperation', asJson(op), address, { type: 'payg' })
    const limits = quantities(answer, ownLimits)
    expect(limits.callGasLimit).toBeGreaterThan(constant.callGasLimit)
    expect(limits.verificationGasLimit).toBeGreaterThanOrEqual(constant.verificationGasLimit)
    const signed = { ...op, ...limits, paymasterAndData: answer.paymasterAndData } as Fields
    expect(await sendSigned(thirdweb, signed)).toMatchObject({ success: true })
  })

  test('gets none lowered', async () => {
    const ample = {
      callGasLimit: 60_000n,
      verificationGasLimit: 300_000n,
      preVerificationGas: 52_000n,
    }
    const op = { ...(await prepare(thirdweb, 1)), ...ample }
    const { address } = thirdweb.entryPoint
    const answer = await call('pm_sponsorUserOperation', asJson(op), address, { type: 'payg' })
    expect(quantities(answer, ownLimits)).toEqual(ample)
  })
})

test('a call without the value that it sends is refused with the amounts', async () => {
  const { address } = safe.entryPoint
  const value = 10n ** 21n
  const callData = await safe.encodeCalls([{ to: TARGET, value }])
  const op = { ...(await prepare(safe, 0)), callData }
  const params = [asJson(op), address]
  const { body } = await rpc(info().standardUrl, 'eth_estimateUserOperationGas', params)
  expect(body.error).toMatchObject({ code: -32521 })
  expect(body.error?.message).toMatch(/its calls send 10{21} wei, the sender has \d+$/)
})
