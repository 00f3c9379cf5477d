import type { Hex } from 'viem'
import { hexToBigInt, http } from 'viem'
import {
  createBundlerClient,
  formatUserOperationRequest,
  type SmartAccount,
  type UserOperation,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { TARGET } from '../support/service/devAccount.js'
import { fund, nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/*
 * Requests of clients in their order, written by hand: thirdweb asks its own method only at its own hosts, and
 * Etherspot's Prime SDK loads Apollo and GraphQL.
 */

const info = usePurser()
const call = { to: TARGET, value: 0n, data: '0x1234' as Hex }

function bundler() {
  return createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    transport: http(info().standardUrl),
    pollingInterval: 100,
  })
}

async function ask<Result>(method: string, params: readonly unknown[]): Promise<Result> {
  const asking = { method, params } as never
  return (await bundler().request(asking)) as Result
}

type HexFees = { readonly maxFeePerGas: Hex; readonly maxPriorityFeePerGas: Hex }

/** An operation with the fees of a provider's method, and neither limits nor signature. */
async function draft(account: SmartAccount, method: string) {
  const fees = await ask<HexFees>(method, [])
  const { account: _, ...drafted } = await bundler().prepareUserOperation({
    account,
    calls: [call],
    maxFeePerGas: hexToBigInt(fees.maxFeePerGas),
    maxPriorityFeePerGas: hexToBigInt(fees.maxPriorityFeePerGas),
    parameters: ['factory', 'nonce', 'signature'],
  })
  return drafted as unknown as UserOperation
}

async function signAndSend(account: SmartAccount, op: UserOperation) {
  const signature = await account.signUserOperation(op as never)
  const signed = formatUserOperationRequest({ ...op, signature } as never)
  const hash = await ask<Hex>('eth_sendUserOperation', [signed, account.entryPoint.address])
  return bundler().waitForUserOperationReceipt({ hash })
}

const limits = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'] as const

describe.each(['0.6', '0.7'] as const)('by hand, EntryPoint v%s', (version) => {
  test('thirdweb: gas price, sponsorship, send', async () => {
    const account = await simpleSmartAccount(info(), version, `by hand thirdweb ${version}`)
    const op = await draft(account, 'thirdweb_getUserOperationGasPrice')
    const sponsored = await ask<Record<string, Hex>>('pm_sponsorUserOperation', [
      formatUserOperationRequest(op),
      account.entryPoint.address,
    ])
    const gas = [...limits, 'paymasterVerificationGasLimit', 'paymasterPostOpGasLimit']
    const fields = version === '0.6' ? ['paymasterAndData'] : ['paymaster', 'paymasterData']
    const taken = Object.fromEntries([
      ...fields.map((name) => [name, sponsored[name]]),
      ...gas.flatMap((name) => {
        const quantity = sponsored[name]
        return quantity === undefined ? [] : [[name, hexToBigInt(quantity)]]
      }),
    ])
    const receipt = await signAndSend(account, { ...op, ...taken } as UserOperation)
    expect(receipt.success).toBe(true)
    expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks[version])
  })

  test('Etherspot: gas price, estimate, send', async () => {
    const account = await simpleSmartAccount(info(), version, `by hand etherspot ${version}`)
    await fund(info(), account.address)
    const op = await draft(account, 'skandha_getGasPrice')
    const estimate = await ask<Record<(typeof limits)[number], Hex>>(
      'eth_estimateUserOperationGas',
      [formatUserOperationRequest(op), account.entryPoint.address],
    )
    const gas = Object.fromEntries(limits.map((name) => [name, hexToBigInt(estimate[name])]))
    const receipt = await signAndSend(account, { ...op, ...gas } as UserOperation)
    expect(receipt.success).toBe(true)
    expect(receipt.actualGasCost).toBeGreaterThan(0n)
  })
})
