import {
  type Address,
  createPublicClient,
  createTestClient,
  type Hex,
  http,
  parseEther,
  size,
  slice,
} from 'viem'
import { getUserOperationHash } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import {
  type AccountCall,
  keyFromSeed,
  simpleAccount,
  toInterfaceOperation,
} from '../../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { result } from '../http/jsonRpc.js'
import { until } from '../until.js'

export const TARGET: Address = '0x00000000000000000000000000000000000a11ce'

/** A chain as a client of the service sees it. */
export type ClientView = Pick<
  DevInfo,
  'chainId' | 'rpcUrl' | 'bundlerUrl' | 'paymasterUrl' | 'entryPoints' | 'factories'
>

/** A test's view of one SimpleAccount on the running service (EntryPoint v0.6). */
export async function devAccount(info: ClientView, seed: string) {
  const client = createPublicClient({ chain: foundry, transport: http(info.rpcUrl) })
  const tester = createTestClient({ mode: 'anvil', chain: foundry, transport: http(info.rpcUrl) })
  const entryPoint = info.entryPoints['0.6'] as Address
  const factory = info.factories['0.6'] as Address
  const account = await simpleAccount(
    {
      read: async (to, data) => (await client.call({ to, data })).data ?? '0x',
      isDeployed: async (address) => (await client.getCode({ address })) !== undefined,
    },
    { ownerKey: keyFromSeed(seed), factory, entryPoint },
  )

  /** Sets limits and fees as the interface's answers give them. */
  const withGas = (op: Operation, gas: Record<string, string | number>): Operation => ({
    ...op,
    callGasLimit: BigInt(gas.callGasLimit ?? op.callGasLimit),
    verificationGasLimit: BigInt(gas.verificationGasLimit ?? op.verificationGasLimit),
    preVerificationGas: BigInt(gas.preVerificationGas ?? op.preVerificationGas),
    maxFeePerGas: BigInt(gas.maxFeePerGas ?? op.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(gas.maxPriorityFeePerGas ?? op.maxPriorityFeePerGas),
  })

  const hashOf = (op: Operation): Hex =>
    getUserOperationHash({
      chainId: info.chainId,
      entryPointAddress: entryPoint,
      entryPointVersion: '0.6',
      userOperation: toInterfaceOperation(op) as never,
    })

  const sign = (op: Operation) => account.sign(op, hashOf(op))

  const fund = (wei = parseEther('1')) =>
    tester.setBalance({ address: account.address, value: wei })

  /** A funded, estimated and signed operation, ready to be sent. */
  const selfPaid = async (
    call: AccountCall = { to: TARGET },
    nonceKey = 0n,
  ): Promise<Operation> => {
    await fund()
    const draft = await account.draft(call, nonceKey)
    const gas = await result(info.bundlerUrl, 'eth_estimateUserOperationGas', [
      toInterfaceOperation(draft),
      entryPoint,
    ])
    return sign(withGas(draft, gas))
  }

  /**
   * An estimated and signed operation that the app's tank pays.
   * @param expiryDuration seconds for which the tank's signature is asked to hold
   */
  const sponsored = async (
    call: AccountCall = { to: TARGET },
    expiryDuration = 1_800,
  ): Promise<Operation> => {
    const fees = await result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
    const draft = withGas(await account.draft(call), fees)
    const mode = { mode: 'SPONSORED', calculateGasLimits: true, expiryDuration }
    const answer = await result(info.paymasterUrl, 'pm_sponsorUserOperation', [
      toInterfaceOperation(draft),
      mode,
    ])
    const data: Hex = answer.paymasterAndData
    if (size(data) < 20) throw new Error(`not sponsored: ${JSON.stringify(answer.sponsorship)}`)
    const paymaster = slice(data, 0, 20)
    return sign({ ...withGas(draft, answer), paymaster, paymasterData: slice(data, 20) })
  }

  const send = (op: Operation): Promise<Hex> =>
    result(info.bundlerUrl, 'eth_sendUserOperation', [toInterfaceOperation(op), entryPoint])

  return {
    account,
    client,
    tester,
    entryPoint,
    withGas,
    hashOf,
    sign,
    fund,
    selfPaid,
    sponsored,
    send,
  }
}

/** The operation's receipt, as soon as there is one; the service is asked at every new answer of the node. */
export function receiptOf(info: Pick<DevInfo, 'bundlerUrl'>, hash: Hex, url = info.bundlerUrl) {
  return until(() => result(url, 'eth_getUserOperationReceipt', [hash]))
}
