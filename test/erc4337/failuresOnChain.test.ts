import { type Address, type Hex, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Failure, Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { revertDataOf } from '../support/chain/revertDataOf.js'
import {
  type ScriptedChain,
  scriptedAddress,
  startScriptedChain,
} from '../support/chain/scriptedBundles.js'

const [FIRST, SECOND, NOBODY] = [0, 1, 2].map(scriptedAddress) as [Hex, Hex, Hex]
const ZERO: Address = `0x${'0'.repeat(40)}`
const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']

describe.each(versions)('failures of EntryPoint v%s', (version) => {
  describe('on a chain', () => {
    let chain: ScriptedChain

    beforeAll(async () => {
      chain = await startScriptedChain(version)
      for (const address of [FIRST, SECOND]) await chain.configure(address, 0n, false)
    })

    afterAll(async () => {
      await chain.stop()
    })

    const call = async (
      ops: readonly Operation[],
      beneficiary = FIRST,
      gas = 5_000_000n,
    ): Promise<Failure | undefined> => {
      const { entryPoint, anvil } = chain
      const data = entryPoint.encodeHandleOps(ops, beneficiary)
      const transaction = {
        from: anvil.account,
        to: entryPoint.address,
        data,
        gas: numberToHex(gas),
      }
      return anvil.request('eth_call', [transaction, 'latest']).then(
        () => undefined,
        (error: unknown) => entryPoint.decodeFailure(revertDataOf(error)),
      )
    }

    it('blame the operation with the wrong nonce', async () => {
      const good = await chain.operation(FIRST, '0x')
      const bad = { ...(await chain.operation(SECOND, '0x')), nonce: 7n }
      expect(await call([good, bad])).toMatchObject({
        index: 1,
        code: 'AA25',
        message: 'AA25 invalid account nonce',
      })
      expect(await call([good])).toBeUndefined()
    })

    it('blame the operation whose account does not exist, from v0.8 on', async () => {
      const good = await chain.operation(FIRST, '0x')
      const orphan = await chain.operation(NOBODY, '0x')
      const failure = await call([good, orphan])
      // Before, AA20 is said in simulations only: handleOps reverts without data.
      if (version < '0.8') expect(failure).toBeUndefined()
      else expect(failure).toMatchObject({ index: 1, code: 'AA20' })
    })

    it('blame the operation for which the gas of the bundle does not suffice', async () => {
      const op = await chain.operation(FIRST, '0x01', { callGasLimit: 1_000_000n })
      expect(await call([op], FIRST, 800_000n)).toMatchObject({ index: 0, code: 'AA95' })
    })

    it('blame no operation for a missing beneficiary', async () => {
      const failure = await call([await chain.operation(FIRST, '0x')], ZERO)
      expect(failure).toMatchObject(
        version === '0.9'
          ? { index: undefined, code: undefined, message: `InvalidBeneficiary(${ZERO})` }
          : { index: undefined, code: 'AA90', message: 'AA90 invalid beneficiary' },
      )
    })
  })
})
