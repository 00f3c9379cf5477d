import type { Address, Hex } from 'viem'
import type { OperationReceipt } from '../../../src/bundler/operationViews.js'
import { canonicalAddresses } from '../../../src/erc4337/canonicalAddresses.js'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import type { EntryPoint, Log, Version } from '../../../src/erc4337/entryPoint.js'
import { plainOperation } from '../operations/plainOperation.js'

export function address(digit: string): Address {
  return `0x${digit.repeat(40)}`
}
export function word(digit: string): Hex {
  return `0x${digit.repeat(64)}`
}

export function entryPointNamed(version: Version): EntryPoint {
  return createEntryPoint(version, canonicalAddresses[version])
}

/** JSON of a v0.6 operation as a client sends it. */
export const rpcOperation06 = {
  sender: '0x9d7D81B4eecDf15CEb00bA42284EA36f8BE68B90',
  nonce: '0x0',
  initCode: '0x',
  callData: '0x0000189a',
  callGasLimit: '0x186a0',
  verificationGasLimit: '100000',
  preVerificationGas: '0x0dbba0',
  maxFeePerGas: '1500000000',
  maxPriorityFeePerGas: '0',
  paymasterAndData: '0x',
  signature: `0x${'ab'.repeat(65)}`,
}

/** JSON of a v0.7 operation as viem sends it. */
export const rpcOperation07 = {
  sender: '0x9d7D81B4eecDf15CEb00bA42284EA36f8BE68B90',
  nonce: '0x10000000000000000',
  factory: '0x91E60e0613810449d098b0b5Ec8b51A0FE8c8985',
  factoryData: '0x5fbfb9cf',
  callData: '0xb61d27f6',
  callGasLimit: '0x186a0',
  verificationGasLimit: '0x186a0',
  preVerificationGas: '0xbba0',
  maxFeePerGas: '0x59682f00',
  maxPriorityFeePerGas: '0x0',
  paymaster: '0x1111111111111111111111111111111111111111',
  paymasterVerificationGasLimit: '0x7530',
  paymasterPostOpGasLimit: '0x0',
  paymasterData: '0xabcd',
  signature: `0x${'ab'.repeat(65)}`,
}

export const operation = plainOperation({
  sender: address('1'),
  nonce: 5n,
  callData: '0x0000189a',
  callGasLimit: 100_000n,
  verificationGasLimit: 70_000n,
  maxFeePerGas: 1_500_000_000n,
  signature: '0xab',
})

function log(logIndex: number, emitter: Address): Log {
  return {
    address: emitter,
    topics: [word('e')],
    data: '0x',
    blockNumber: 7n,
    blockHash: word('b'),
    transactionHash: word('c'),
    transactionIndex: 0,
    logIndex,
  }
}

const foreignLog = log(0, address('8'))
const ownLog = log(1, address('9'))
const event = log(2, canonicalAddresses['0.6'])

export const receipt: OperationReceipt = {
  userOpHash: word('a'),
  sender: address('1'),
  nonce: 5n,
  paymaster: address('0'),
  success: true,
  actualGasCost: 124_885_600_000_000n,
  actualGasUsed: 1_248_856n,
  reason: '0x',
  event,
  logs: [ownLog, event],
  entryPoint: canonicalAddresses['0.6'],
  confirmations: 3,
  receipt: {
    transactionHash: word('c'),
    transactionIndex: 0,
    blockHash: word('b'),
    blockNumber: 7n,
    from: address('2'),
    to: canonicalAddresses['0.6'],
    contractAddress: null,
    cumulativeGasUsed: 256n,
    gasUsed: 27n,
    effectiveGasPrice: 0n,
    logs: [foreignLog, ownLog, event],
    logsBloom: `0x${'00'.repeat(256)}`,
    status: 1,
    type: 2,
  },
}
