import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex, parseUnits } from 'viem'
import {
  formatUserOperationRequest,
  type SmartAccount,
  type UserOperation,
} from 'viem/account-abstraction'
import { expect, test } from 'vitest'
import { devVersions } from '../../src/cli/devnet/devContracts.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { type Json, result, rpc } from '../support/http/jsonRpc.js'
import { TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed } from '../support/service/devTokens.js'
import { simpleSmartAccount } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * The order of the Nexus SDKs: sponsor with limits of 0, estimate with the tank's data and limits of 0, take
 * preVerificationGas from the estimate, sign, send. The estimate must be what the tank has signed (AA34), also where bytes
 * of its signature are zero, which cost less.
 */

const info = usePurser()

const limits = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'] as const
const ofPaymaster = ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'] as const
const unset = Object.fromEntries(limits.map((name) => [name, '0x0']))

const dialects = ['bundlerUrl', 'standardUrl'] as const
type Dialect = (typeof dialects)[number]
type Payment = 'sponsored' | 'in tokens'

const call = (dialect: Dialect, method: string, ...params: unknown[]): Promise<Json> =>
  result(info()[dialect], method, params)

/** A JSON operation without limits and paymaster, whose call carries `data` and, to pay in tokens, an approval. */
async function draft(account: SmartAccount, payment: Payment, data: Hex) {
  const { standard } = await call('standardUrl', 'biconomy_getGasFeeValues')
  const { factory, factoryData } = await account.getFactoryArgs()
  const isPacked = account.entryPoint.version === '0.6'
  const initCode = factory === undefined ? '0x' : `${factory}${factoryData?.slice(2)}`
  const token = tokenNamed(info(), 'tUSD').address
  const tank = info().tokenTanks[account.entryPoint.version as Version] as Address
  const args = [tank, parseUnits('1000', 6)] as const
  const approval = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  const calls = [
    { to: TARGET, data },
    ...(payment === 'in tokens' ? [{ to: token, data: approval }] : []),
  ]
  return {
    sender: account.address,
    nonce: numberToHex(await account.getNonce({ key: 0n })),
    ...(isPacked ? { initCode } : factory && { factory, factoryData }),
    callData: await account.encodeCalls(calls),
    maxFeePerGas: numberToHex(BigInt(standard.maxFeePerGas)),
    maxPriorityFeePerGas: numberToHex(BigInt(standard.maxPriorityFeePerGas)),
    signature: await account.getStubSignature(),
  }
}

const modes = {
  sponsored: () => ({ mode: 'SPONSORED', calculateGasLimits: true }),
  'in tokens': () => ({
    mode: 'ERC20',
    calculateGasLimits: true,
    tokenInfo: { feeTokenAddress: tokenNamed(info(), 'tUSD').address },
  }),
}

/** Zero bytes among the 65 of a tank's signature, the last of its data. */
function zeroBytes(data: Hex): number {
  return (
    data
      .slice(-130)
      .match(/../g)
      ?.filter((byte) => byte === '00').length ?? 0
  )
}

/** A draft that the tank has signed; with at least `zeros` zero bytes in its signature. */
async function signed(account: SmartAccount, payment: Payment, dialect: Dialect, zeros: number) {
  for (let at = 1; ; at++) {
    const op = await draft(account, payment, numberToHex(at, { size: 32 }))
    const params = [{ ...op, ...unset }, account.entryPoint.address, '0x7a69', modes[payment]()]
    const answer = await call(dialect, 'pm_getPaymasterData', ...params)
    const data: Hex = answer.paymasterAndData ?? answer.paymasterData
    if (zeroBytes(data) < zeros) continue
    const { paymasterAndData, paymaster, paymasterData } = answer
    const fields = paymasterAndData ? { paymasterAndData } : { paymaster, paymasterData }
    return { op: { ...op, ...fields }, answer, zeros: zeroBytes(data) }
  }
}

/** The gas fields of an answer as bigints; those that the version lacks are left out. */
function gasOf(answer: Json) {
  const names = [...limits, ...ofPaymaster].filter((name) => answer[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, BigInt(answer[name])]))
}

function quantities(gas: Record<string, bigint>) {
  return Object.fromEntries(Object.entries(gas).map(([name, value]) => [name, numberToHex(value)]))
}

async function signAndSend(account: SmartAccount, op: object, gas: Record<string, bigint>) {
  const json = { ...op, ...quantities(gas) } as Record<string, Hex>
  const bigints = ['nonce', 'maxFeePerGas', 'maxPriorityFeePerGas', ...Object.keys(gas)]
  const typed = Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      bigints.includes(name) ? BigInt(value) : value,
    ]),
  ) as unknown as UserOperation
  const signature = await account.signUserOperation(typed as never)
  const request = formatUserOperationRequest({ ...typed, signature } as UserOperation)
  return rpc(info().standardUrl, 'eth_sendUserOperation', [request, account.entryPoint.address])
}

const accountFor = (version: Version, payment: Payment, seed: number) =>
  simpleSmartAccount(info(), version, `signed ${payment} ${version} ${seed}`)

/** `count` operations of one account, one after the other. */
async function runSequences(version: Version, payment: Payment, seed: number, count: number) {
  const account = await accountFor(version, payment, seed)
  let withZeros = 0
  for (let at = 0; at < count; at++) {
    const dialect = dialects[(seed + at) % 2] as Dialect
    const { op, answer, zeros } = await signed(account, payment, dialect, at % 2)
    if (zeros > 0) withZeros++
    const asked = [{ ...op, ...unset }, account.entryPoint.address]
    const estimate = await call(dialect, 'eth_estimateUserOperationGas', ...asked)
    expect(gasOf(estimate)).toEqual(gasOf(answer))
    const { body } = await signAndSend(account, op, gasOf(estimate))
    expect(body.error).toBeUndefined()
    const receipt = await until(() =>
      call('standardUrl', 'eth_getUserOperationReceipt', body.result),
    )
    expect(receipt.success).toBe(true)
  }
  return withZeros
}

const seeds = [1, 2, 3, 4, 5]

test.each(['sponsored', 'in tokens'] as const)(
  '100 operations, %s, that are estimated after the tank has signed pass',
  { timeout: 300_000 },
  async (payment) => {
    if (payment === 'in tokens')
      for (const version of devVersions)
        for (const seed of seeds) {
          const { address } = await accountFor(version, payment, seed)
          await giveTokens(info(), tokenNamed(info(), 'tUSD'), address, parseUnits('9000', 6))
        }
    const withZeros = await Promise.all(
      devVersions.flatMap((version) =>
        seeds.map((seed) => runSequences(version, payment, seed, 5)),
      ),
    )
    expect(withZeros.reduce((sum, each) => sum + each)).toBeGreaterThanOrEqual(40)
  },
)

test.each(devVersions)(
  'v%s: a limit that is not the signed one is named with it',
  async (version) => {
    const account = await simpleSmartAccount(info(), version, `signed difference ${version}`)
    const { op, answer } = await signed(account, 'sponsored', 'standardUrl', 0)
    const gas = gasOf(answer)
    const other = { ...gas, callGasLimit: gas.callGasLimit! + 1n }
    const { body } = await signAndSend(account, op, other)
    expect(body.error?.message).toContain(
      `AA34 signature error: callGasLimit is ${other.callGasLimit}, ${gas.callGasLimit} was signed`,
    )
    const elsewhere = await signAndSend(account, { ...op, callData: '0x' }, gas)
    expect(elsewhere.body.error?.message).toContain(
      'AA34 signature error: the paymaster signed another operation',
    )
  },
)
