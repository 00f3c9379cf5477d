import type { Address } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import type { Draft } from '../../src/erc4337/draft.js'
import { estimateOperation, type GasEstimate } from '../../src/gas/estimateOperation.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { encodeTankData } from '../../src/paymaster/tank/tankData.js'
import { stubSignature } from '../../src/gas/placeholder.js'
import { createInProcessEngine } from '../../src/simulation/inProcess/inProcessEngine.js'
import { createSimulations } from '../../src/simulation/simulations.js'
import { signExecuting } from '../support/chain/executingAccount.js'
import { ownersDraft } from '../support/chain/ownersAccount.js'
import { silent } from '../support/logger.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { program } from '../support/simulations.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

/** No search is divided, however busy the machine is: each part reads what it missed. */
const unhurried = createSimulations({
  workers: 1,
  logger: silent,
  program,
  inline: { runSteps: 10_000_000, measureSteps: Infinity },
})

const payers = ['itself', 'a tank'] as const
const range = { validUntil: 0, validAfter: 0 }

describe.each(VERSIONS)('state named by the hash or the signer, EntryPoint v%s:', (version) => {
  const chain = useVersionChain(version)
  let tank: Address

  beforeAll(async () => {
    tank = await chain().createTank(0)
    await chain().engine.heads.refresh()
  })

  async function estimate(draft: Draft): Promise<GasEstimate> {
    const { node, heads } = chain().engine
    const head = await heads.refresh()
    const definition = {
      chainId: 31_337,
      maxBundleGas: 16_000_000n,
      maxVerificationGas: 5_000_000n,
    }
    const advice = await adviseFees(node, head, {})
    const parts = { bundleSize: 1, hasBeneficiary: false }
    const party = { simulations: unhurried, requester: undefined }
    const engine = createInProcessEngine({ ...party, state: chain().engine.state })
    const context = { node, engine, definition, advice, ...parts }
    return estimateOperation(context, chain().entryPoint, draft)
  }

  test.each(payers)(
    'an operation paid by %s is given limits that do and are close',
    async (payer) => {
      const seed = `owner, paid by ${payer}`
      const drafted = await ownersDraft(chain(), seed, chain().onTarget('write', 0n, 3n))
      const stub = { paymaster: tank, paymasterData: encodeTankData(range, stubSignature) }
      const draft = { ...drafted, ...unsetGas, ...(payer === 'itself' ? {} : stub) }
      await chain().engine.heads.refresh()
      chain().engine.batches()
      const gas = await estimate(draft)
      // Each of the three searches reads once what its trials missed; the first run asks for the rest.
      expect(chain().engine.batches().length).toBeLessThanOrEqual(9)

      expect(gas.verificationGasLimit).toBeLessThan(payer === 'itself' ? 130_000n : 150_000n)
      expect(gas.callGasLimit).toBeLessThan(150_000n)
      const op = complete(draft, gas)
      const paid = payer === 'itself' ? op : await chain().sponsor(op, tank)
      const sent = await chain().send(await signExecuting(chain(), paid, seed))
      expect(sent.outcome).toMatchObject({ success: true, sender: draft.sender })
    },
  )
})
