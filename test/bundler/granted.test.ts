import { type Hex, parseGwei } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  FeeTooLowError,
  ReplacementUnderpricedError,
} from '../../src/base/errors/operationErrors.js'
import { inTransaction } from '../../src/db/inTransaction.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { type Grant, putGrants } from '../../src/paymaster/ledger/grants.js'
import { createApp } from '../support/database/createApp.js'
import { useWorld } from '../support/world.js'

const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
const fees = { maxFeePerGas: parseGwei('10'), maxPriorityFeePerGas: parseGwei('2') }

describe('operations without fees', () => {
  const chain = useWorld()

  const now = () => Math.floor(Date.now() / 1000)
  const freeOperation = async (): Promise<Operation> =>
    chain().operation(await chain().createAccount(0n), free)
  const grant = async (op: Operation, terms: Partial<Grant> = {}): Promise<Hex> => {
    const { chainId } = chain().definition
    const userOpHash = chain().entryPoint.hash(op, chainId)
    const { appId } = chain()
    const validUntil = now() + 600
    await inTransaction(chain().database, (trx) =>
      putGrants(trx, [{ chainId, userOpHash, appId, validUntil, ...fees, ...terms }]),
    )
    return userOpHash
  }

  test('are refused, but for those that the app was granted and as long as it was', async () => {
    const op = await freeOperation()
    await expect(chain().admit(op)).rejects.toThrow(FeeTooLowError)
    await grant({ ...op, callGasLimit: op.callGasLimit + 1n })
    await expect(chain().admit(op)).rejects.toThrow(FeeTooLowError)
    await grant(op, { appId: await createApp(chain().database) })
    await expect(chain().admit(op)).rejects.toThrow(FeeTooLowError)
    await grant(op, { validUntil: now() - 1 })
    await expect(chain().admit(op)).rejects.toThrow(FeeTooLowError)
    await grant(op)
    expect((await chain().stored(await chain().admit(op))).bid).toEqual(fees)
    await chain().settle()
  })

  test('go with paying ones, at no cost to their senders, at the price of the network', async () => {
    const granted = await freeOperation()
    const paying = chain().operation(await chain().createAccount(), fees)
    await grant(granted)
    const hashes = [await chain().admit(granted), await chain().admit(paying)]
    await chain().settle()
    const [first, second] = await Promise.all(hashes.map((hash) => chain().receipt(hash)))
    expect(first).toMatchObject({ success: true, actualGasCost: 0n, sender: granted.sender })
    expect(first!.actualGasUsed).toBeGreaterThan(0n)
    expect(second).toMatchObject({ success: true })
    expect(second!.receipt.transactionHash).toBe(first!.receipt.transactionHash)
    expect(first!.receipt.effectiveGasPrice).toBeGreaterThan(0n)
  })

  test('are no way into a bundle for less than the network asks', async () => {
    const op = await freeOperation()
    const { baseFee } = chain().heads.current()
    const hash = await grant(op, { maxFeePerGas: baseFee - 1n, maxPriorityFeePerGas: 1n })
    await chain().admit(op)
    await chain().round()
    expect((await chain().stored(hash)).state).toBe('pooled')
    const again = { ...op, callGasLimit: op.callGasLimit + 1n }
    await grant(again, { maxFeePerGas: baseFee - 1n, maxPriorityFeePerGas: 1n })
    await expect(chain().admit(again)).rejects.toThrow(ReplacementUnderpricedError)
    await grant(again)
    const replacing = await chain().admit(again)
    await chain().settle()
    expect((await chain().stored(hash)).state).toBe('replaced')
    expect((await chain().stored(replacing)).state).toBe('included')
  })

  test('leave the pool when the grant ends', async () => {
    const op = await freeOperation()
    const { baseFee } = chain().heads.current()
    const validUntil = now() + 600
    const hash = await grant(op, { maxFeePerGas: baseFee / 2n, validUntil })
    await chain().admit(op)
    expect((await chain().stored(hash)).validUntil).toBe(validUntil)
    await chain().anvil.request('evm_setNextBlockTimestamp', [validUntil + 1])
    await chain().anvil.request('evm_mine', [])
    await chain().round()
    expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'EXPIRED' })
  })
})
