import fc from 'fast-check'
import { encodeFunctionData, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import {
  decodeSimulation,
  encodeSimulateHandleOp,
  encodeSimulateValidation,
  type Simulated,
} from '../../src/erc4337/simulationV06.js'
import { revertDataOf } from '../support/chain/revertDataOf.js'
import {
  type ScriptedChain,
  scriptedAbi,
  scriptedAddress,
  startScriptedChain,
} from '../support/chain/scriptedBundles.js'

const [ACCOUNT, PAYMASTER, NOBODY] = [0, 1, 2].map(scriptedAddress) as [Hex, Hex, Hex]
const ZERO: Hex = `0x${'0'.repeat(40)}`
const quiet = encodeFunctionData({ abi: scriptedAbi, functionName: 'quiet' })
const failing = encodeFunctionData({ abi: scriptedAbi, functionName: 'fail', args: ['Not today'] })

describe('simulations of EntryPoint v0.6 on a chain', () => {
  let chain: ScriptedChain

  beforeAll(async () => {
    chain = await startScriptedChain('0.6')
    for (const address of [ACCOUNT, PAYMASTER]) await chain.configure(address, 0n, false)
  })

  afterAll(async () => {
    await chain.stop()
  })

  const simulate = async (data: Hex): Promise<Simulated | undefined> => {
    const call = { from: ZERO, to: chain.entryPoint.address, data }
    const revertData = await chain.anvil
      .request('eth_call', [call, 'latest'])
      .then(() => expect.unreachable('a v0.6 simulation reverts'), revertDataOf)
    return decodeSimulation(revertData)
  }

  it('ask for the prefund that requiredPrefund says', async () => {
    const op = await chain.operation(ACCOUNT, quiet)
    const limit = fc.bigInt({ min: 100_000n, max: 10_000_000n })
    await fc.assert(
      fc.asyncProperty(
        limit,
        limit,
        limit,
        fc.bigInt({ min: 0n, max: 10n ** 11n }),
        fc.constantFrom(undefined, PAYMASTER),
        async (callGasLimit, verificationGasLimit, preVerificationGas, maxFeePerGas, paymaster) => {
          const priced: Operation = {
            ...op,
            callGasLimit,
            verificationGasLimit,
            preVerificationGas,
            maxFeePerGas,
            maxPriorityFeePerGas: maxFeePerGas / 2n,
            paymaster,
          }
          const simulated = await simulate(encodeSimulateValidation(priced))
          expect(simulated).toMatchObject({
            kind: 'validation',
            prefund: chain.entryPoint.requiredPrefund(priced),
            signatureFailed: false,
            validAfter: 0,
            validUntil: 0,
            aggregator: undefined,
          })
        },
      ),
      { numRuns: 200 },
    )
  })

  it('tell why validation fails', async () => {
    const op = await chain.operation(NOBODY, quiet)
    expect(await simulate(encodeSimulateValidation(op))).toMatchObject({
      kind: 'failure',
      failure: { index: 0, code: 'AA20', message: 'AA20 account not deployed' },
    })
    const overflowing = { ...(await chain.operation(ACCOUNT, quiet)), callGasLimit: 2n ** 120n }
    expect(await simulate(encodeSimulateValidation(overflowing))).toMatchObject({
      kind: 'failure',
      failure: { index: undefined, code: 'AA94', message: 'AA94 gas values overflow' },
    })
  })

  it('run the operation, then the target call', async () => {
    const op = await chain.operation(ACCOUNT, quiet)
    expect(await simulate(encodeSimulateHandleOp(op, ACCOUNT, failing))).toMatchObject({
      kind: 'execution',
      targetSuccess: false,
      targetResult: expect.stringMatching(/^0x08c379a0/),
    })
    expect(await simulate(encodeSimulateHandleOp(op, ACCOUNT, quiet))).toMatchObject({
      kind: 'execution',
      targetSuccess: true,
      targetResult: '0x',
    })
  })
})
