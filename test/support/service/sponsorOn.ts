import { randomBytes } from 'node:crypto'
import type { Address } from 'viem'
import { adviseFees } from '../../../src/chain/fees.js'
import { tankFactoryAddress } from '../../../src/contracts/deployments.js'
import type { Draft } from '../../../src/entrypoint/draft.js'
import type { EntryPoint } from '../../../src/entrypoint/entryPoint.js'
import { estimateOperation } from '../../../src/gas/estimateOperation.js'
import { createOutboundClient } from '../../../src/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../../src/outbound/networkGuard.js'
import { createSponsor } from '../../../src/paymaster/sponsor.js'
import { defaultTerms } from '../../../src/paymaster/sponsorshipTerms.js'
import { createTanks } from '../../../src/paymaster/tanks.js'
import type { Database } from '../../../src/store/database.js'
import { createApprover } from '../../../src/webhook/approve.js'
import type { EngineChain } from '../chain/engineChain.js'
import { silent } from '../logger.js'

/** Tanks and sponsor as the service makes them, on a test chain of any EntryPoint version. */
export function sponsorOn(chain: EngineChain, database: Database) {
  const masterKey = randomBytes(32)
  const { node, heads } = chain.engine
  const definition = {
    chainId: chain.chainId,
    pollInterval: 20,
    tankFactory: tankFactoryAddress.address as Address,
    maxVerificationGas: 5_000_000n,
    maxBundleGas: 16_777_216n,
  }
  const client = createOutboundClient(createNetworkGuard(loopback))
  const fees = async () => adviseFees(node, heads.current())
  const estimate = async (entryPoint: EntryPoint, draft: Draft) =>
    estimateOperation(
      {
        node,
        engine: chain.engine,
        definition,
        advice: await fees(),
        bundleSize: 1,
        beneficiaryGas: 0,
      },
      entryPoint,
      draft,
    )
  return {
    estimate,
    tanks: createTanks({ database, masterKey, node, definition }),
    sponsor: createSponsor({
      database,
      masterKey,
      node,
      heads,
      definition,
      fees,
      estimate,
      terms: defaultTerms,
      approver: createApprover({ database, masterKey, client }),
      logger: silent,
    }),
    close: async () => client.close(),
  }
}
