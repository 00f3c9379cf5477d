import { type Address, type Hex, numberToHex, parseEther, parseGwei } from 'viem'
import { describe, expect, test } from 'vitest'
import { highestPrice } from '../../src/gas/highestPrice.js'
import { pooledOperations } from '../../src/mempool/pool/pooledOperations.js'
import { putUnchecked } from '../../src/mempool/pool/putOperations.js'
import { createApp } from '../support/database/createApp.js'
import { useFreshWorld } from '../support/world.js'

/*
 * The attacker sends operations that offer the highest tips and can never be bundled: the little gas that
 * they name makes them sure to pay less than the base fee, whatever tip they offer. The 500 best operations
 * were read for a bundle, ranked by the tip that they name. Before: 500 of them, which cost nothing, and
 * nobody else's operation was bundled until the base fee fell.
 */

const MANY = 600

describe('operations that can never be bundled', () => {
  const chain = useFreshWorld({ definition: { maxPoolAge: 60 } })

  async function setBaseFee(): Promise<void> {
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(parseGwei('5'))])
    await chain().anvil.request('anvil_mine', [])
    await chain().heads.refresh()
  }

  /** The attacker's operations, as if admission had taken them when they seemed to pay. */
  async function attack(fees: {
    maxFeePerGas: bigint
    maxPriorityFeePerGas: bigint
    callGasLimit?: bigint
  }) {
    const { entryPoint, definition } = chain()
    const { chainId } = definition
    const appId = await createApp(chain().database)
    const operations = Array.from({ length: MANY }, (_, index) => {
      const sender: Address = numberToHex(0xbad0000 + index, { size: 20 })
      const operation = chain().operation(sender, { callGasLimit: 0n, ...fees })
      return {
        appId,
        operation,
        hash: entryPoint.hash(operation, chainId),
        entryPoint: entryPoint.address,
        prefund: entryPoint.requiredPrefund(operation),
        assuredPrice: highestPrice(entryPoint, operation),
        seenBlock: 0n,
      }
    })
    await putUnchecked(chain().database, chainId, operations)
    return operations.map(({ hash }) => hash)
  }

  async function honest(): Promise<Hex> {
    const sender = await chain().createAccount()
    const fees = { maxFeePerGas: parseGwei('20'), maxPriorityFeePerGas: parseGwei('1') }
    return chain().admit(chain().operation(sender, fees))
  }

  test.each([
    [
      'a tip above all others',
      { maxFeePerGas: parseGwei('5.2'), maxPriorityFeePerGas: parseGwei('5.2') },
    ],
    [
      'the whole maximum as tip',
      { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('5') },
    ],
  ])('with %s do not keep those of others from the next bundle', async (_, fees) => {
    await attack(fees)
    const hash = await honest()
    await setBaseFee()
    await chain().round()
    expect((await chain().stored(hash)).state).toBe('bundled')
  })

  test('because the executor cannot pay for their gas do not either', async () => {
    const fees = { maxFeePerGas: parseGwei('90'), maxPriorityFeePerGas: parseGwei('9') }
    const [large] = await attack({ ...fees, callGasLimit: 10_000_000n })
    const hash = await honest()
    const address = chain().executors[0]!.address
    const balance = numberToHex(parseEther('0.004'))
    await chain().anvil.request('anvil_setBalance', [address, balance])
    await chain().anvil.request('anvil_mine', [])
    await chain().heads.refresh()
    await chain().round()
    expect((await chain().stored(hash)).state).toBe('bundled')
    expect((await chain().stored(large!)).state).toBe('pooled')
  })

  test('are not even read', async () => {
    await attack({ maxFeePerGas: parseGwei('5.2'), maxPriorityFeePerGas: parseGwei('5.2') })
    await setBaseFee()
    const { chainId } = chain().definition
    const { baseFee } = chain().heads.current()
    const query = {
      chainId,
      entryPoint: chain().entryPoint.address,
      baseFee,
      leastTip: 1n,
      inFlight: [],
      limit: 500,
    }
    const read = await pooledOperations(chain().database, { ...query, without: new Set() })
    expect(read).toEqual([])
  })

  test('leave the pool after the time that an operation may wait', async () => {
    const hashes = await attack({
      maxFeePerGas: parseGwei('5'),
      maxPriorityFeePerGas: parseGwei('5'),
    })
    const hash = await honest()
    const { database } = chain()
    const longAgo = new Date(Date.now() - 61_000)
    await database
      .updateTable('operations')
      .set({ received_at: longAgo })
      .where('hash', 'in', hashes)
      .execute()
    await chain().settle()
    const dropped = await chain().stored(hashes[0]!)
    expect(dropped).toMatchObject({ state: 'dropped', reasonCode: 'WAITED_TOO_LONG' })
    expect((await chain().stored(hash)).state).toBe('included')
  })
})
