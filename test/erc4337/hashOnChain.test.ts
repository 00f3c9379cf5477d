import fc from 'fast-check'
import {
  type Address,
  concat,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  numberToHex,
} from 'viem'
import { entryPoint06Abi, entryPoint09Abi } from 'viem/account-abstraction'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalAddresses } from '../../src/erc4337/canonicalAddresses.js'
import { createEntryPoint } from '../../src/erc4337/createEntryPoint.js'
import type { EntryPoint, Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { deployEntryPoint } from '../support/chain/entryPointContracts.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import {
  arbitraryDelegatedOperation,
  arbitraryOperation,
} from '../support/operations/arbitraryOperation.js'
import { toPackedStruct, toStructV06 } from '../support/operations/viemStructs.js'
import { randomRuns } from '../support/runs.js'

const CHAIN_ID = 31_337
const RUNS = randomRuns(1_000)

function encodeGetUserOpHash(version: Version, op: Operation): Hex {
  return version === '0.6'
    ? encodeFunctionData({
        abi: entryPoint06Abi,
        functionName: 'getUserOpHash',
        args: [toStructV06(op)],
      })
    : encodeFunctionData({
        abi: entryPoint09Abi,
        functionName: 'getUserOpHash',
        args: [toPackedStruct(op)],
      })
}

let anvil: Anvil

beforeAll(async () => {
  anvil = await startAnvil()
})

afterAll(async () => {
  await anvil.stop()
})

/** What the contract says; `delegate` is what the sender's code points to. */
async function contractHash(
  entryPoint: EntryPoint,
  op: Operation,
  delegate?: Address,
): Promise<Hex> {
  const data = encodeGetUserOpHash(entryPoint.version, op)
  const code = delegate && { [op.sender]: { code: concat(['0xef0100', delegate]) } }
  const call = { to: entryPoint.address, data }
  const result = await anvil.request('eth_call', [call, 'latest', ...(code ? [code] : [])])
  return decodeFunctionResult({
    abi: entryPoint09Abi,
    functionName: 'getUserOpHash',
    data: result as Hex,
  })
}

const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']

describe.each(versions)('EntryPoint v%s', (version) => {
  describe('as a contract', () => {
    let entryPoint: EntryPoint

    beforeAll(async () => {
      entryPoint = createEntryPoint(version, await deployEntryPoint(anvil, version))
    })

    it('stands at its canonical address', () => {
      expect(entryPoint.address).toBe(canonicalAddresses[version])
    })

    it('hashes operations as we do', async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryOperation(version), async (op) => {
          expect(entryPoint.hash(op, CHAIN_ID)).toBe(await contractHash(entryPoint, op))
        }),
        { numRuns: RUNS },
      )
    })

    it.skipIf(version < '0.8')('hashes operations of EIP-7702 senders as we do', async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryDelegatedOperation, async (op) => {
          const delegate = op.authorization!.address
          const expected = await contractHash(entryPoint, op, delegate)
          expect(entryPoint.hash(op, CHAIN_ID)).toBe(expected)
          const bare = { ...op, authorization: undefined }
          expect(entryPoint.hash(bare, CHAIN_ID, delegate)).toBe(expected)
        }),
        { numRuns: RUNS },
      )
    })

    it.skipIf(version < '0.8')('treats a paymaster signature as we do', async () => {
      const sponsored = arbitraryOperation(version).filter((op) => op.paymaster !== undefined)
      const claimed = fc.integer({ min: 0, max: 300 })
      await fc.assert(
        fc.asyncProperty(sponsored, claimed, async (op, length) => {
          const suffix = concat([numberToHex(length, { size: 2 }), '0x22e325a297439656'])
          const suffixed = { ...op, paymasterData: concat([op.paymasterData, suffix]) }
          const expected = await contractHash(entryPoint, suffixed).catch(() => 'refused')
          const ours = () => entryPoint.hash(suffixed, CHAIN_ID)
          if (expected === 'refused') expect(ours).toThrow(/paymaster signature/)
          else expect(ours()).toBe(expected)
        }),
        { numRuns: RUNS },
      )
    })
  })
})
