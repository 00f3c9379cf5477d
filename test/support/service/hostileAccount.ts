import {
  type Address,
  createTestClient,
  type Hex,
  http,
  keccak256,
  parseEther,
  slice,
  toHex,
} from 'viem'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { depositSlot } from '../../../src/erc4337/encoding/storageLayout.js'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import { result } from '../http/jsonRpc.js'

/** An operation of the interface. */
export type HostileOperation = Readonly<Record<string, string>>

/**
 * An account that is `code` and has deposited an ether at the EntryPoint, and its operation with the service's own fees, whose limits
 * are generous. Its code is called for validation and, where there is call data, for execution.
 */
export async function hostileAccount(
  info: Pick<DevInfo, 'rpcUrl' | 'bundlerUrl' | 'entryPoints'>,
  seed: string,
  code: Hex,
  callData: Hex = '0x',
  version: Version = '0.7',
): Promise<{ readonly sender: Address; readonly operation: HostileOperation }> {
  const tester = createTestClient({ mode: 'anvil', chain: foundry, transport: http(info.rpcUrl) })
  const address = slice(keccak256(toHex(seed)), 12)
  await tester.setCode({ address, bytecode: code })
  await tester.setStorageAt({
    address: info.entryPoints[version] as Address,
    index: depositSlot(address),
    value: toHex(parseEther('1'), { size: 32 }),
  })
  const { fast } = await result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
  const operation = {
    sender: address,
    nonce: '0x0',
    callData,
    callGasLimit: toHex(callData === '0x' ? 0 : 100_000),
    verificationGasLimit: toHex(200_000),
    preVerificationGas: toHex(100_000),
    maxFeePerGas: toHex(BigInt(fast.maxFeePerGas)),
    maxPriorityFeePerGas: toHex(BigInt(fast.maxPriorityFeePerGas)),
    signature: `0x${'11'.repeat(65)}` as Hex,
    ...(version === '0.6' && { initCode: '0x', paymasterAndData: '0x' }),
  }
  return { sender: address, operation }
}
