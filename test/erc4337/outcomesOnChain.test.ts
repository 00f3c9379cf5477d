import { encodeErrorResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { logsOf } from '../support/chain/logs.js'
import {
  type ScriptedChain,
  scriptedAbi,
  scriptedAddress,
  startScriptedChain,
} from '../support/chain/scriptedBundles.js'

const GAS = 5_000_000n
const CHAIN_ID = 31_337
const ZERO = `0x${'0'.repeat(40)}` as const

const quiet = encodeFunctionData({ abi: scriptedAbi, functionName: 'quiet' })
const failing = encodeFunctionData({ abi: scriptedAbi, functionName: 'fail', args: ['Not today'] })
const notToday = encodeErrorResult({
  abi: parseAbi(['error Error(string)']),
  errorName: 'Error',
  args: ['Not today'],
})

const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']

describe.each(versions)('receipts of EntryPoint v%s', (version) => {
  describe('on a chain', () => {
    const [first, second, paymaster] = [0, 1, 2].map(scriptedAddress) as [Hex, Hex, Hex]
    let chain: ScriptedChain

    beforeAll(async () => {
      chain = await startScriptedChain(version)
      for (const address of [first, second]) await chain.configure(address, 0n, false)
      await chain.configure(paymaster, 0n, true)
    })

    afterAll(async () => {
      await chain.stop()
    })

    it('tell a failed operation from a good one in the same bundle', async () => {
      const { entryPoint } = chain
      const ops = [await chain.operation(first, failing), await chain.operation(second, quiet)]
      const receipt = await chain.handleOps(ops, GAS)
      const outcomes = entryPoint.decodeOutcomes(logsOf(receipt))
      expect(outcomes).toMatchObject([
        {
          userOpHash: entryPoint.hash(ops[0]!, CHAIN_ID),
          sender: first,
          nonce: ops[0]!.nonce,
          paymaster: ZERO,
          success: false,
          reason: notToday,
        },
        {
          userOpHash: entryPoint.hash(ops[1]!, CHAIN_ID),
          sender: second,
          nonce: ops[1]!.nonce,
          paymaster: ZERO,
          success: true,
          reason: '0x',
        },
      ])
      const [failed, good] = outcomes
      expect(failed!.logs.map((log) => log.address)).toEqual([
        entryPoint.address,
        entryPoint.address,
      ])
      expect(good!.logs.map((log) => log.address)).toEqual([second, entryPoint.address])
      expect(good!.logs.at(-1)).toBe(good!.event)
    })

    it('charge what gasPrice says for the gas used', async () => {
      const op = await chain.operation(first, quiet)
      const receipt = await chain.handleOps([op], GAS)
      const [outcome] = chain.entryPoint.decodeOutcomes(logsOf(receipt))
      const block = (await chain.anvil.request('eth_getBlockByNumber', [
        receipt.logs[0]!.blockNumber,
        false,
      ])) as { baseFeePerGas: Hex }
      const price = chain.entryPoint.gasPrice(op, BigInt(block.baseFeePerGas))
      expect(outcome!.actualGasCost).toBe(outcome!.actualGasUsed * price)
    })

    it('are not fooled by events under an account address', async () => {
      const { entryPoint } = chain
      const victim = await chain.operation(second, failing)
      const callData = encodeFunctionData({
        abi: scriptedAbi,
        functionName: 'spoof',
        args: [entryPoint.hash(victim, CHAIN_ID), paymaster],
      })
      const attack = await chain.operation(first, callData)
      const receipt = await chain.handleOps([attack, victim], GAS)
      const outcomes = entryPoint.decodeOutcomes(logsOf(receipt))
      expect(outcomes).toMatchObject([
        { sender: first, success: true, reason: '0x', paymaster: ZERO },
        { sender: second, success: false, reason: notToday, paymaster: ZERO },
      ])
      expect(outcomes[0]!.logs.map((log) => log.address)).toEqual([
        first,
        first,
        first,
        entryPoint.address,
      ])
    })

    it('report a failing postOp', async () => {
      const limits = { paymasterVerificationGasLimit: 100_000n, paymasterPostOpGasLimit: 50_000n }
      const op = await chain.operation(first, quiet, { paymaster, ...limits })
      const receipt = await chain.handleOps([op], GAS)
      const [outcome] = chain.entryPoint.decodeOutcomes(logsOf(receipt))
      expect(outcome).toMatchObject({ sender: first, paymaster, success: false })
      // v0.6 calls postOp a second time and tells no reason; later versions wrap it.
      expect(outcome!.reason.slice(0, 10)).toBe(version === '0.6' ? '0x' : '0xad7954bc')
      expect(outcome!.logs.every((log) => log.address === chain.entryPoint.address)).toBe(true)
    })

    it('and their calldata lead back to the operations', async () => {
      const ops = [await chain.operation(first, quiet), await chain.operation(second, failing)]
      const receipt = await chain.handleOps(ops, GAS)
      const transaction = (await chain.anvil.request('eth_getTransactionByHash', [
        receipt.transactionHash,
      ])) as { input: Hex }
      expect(chain.entryPoint.decodeHandleOps(transaction.input)).toEqual(ops)
    })
  })
})
