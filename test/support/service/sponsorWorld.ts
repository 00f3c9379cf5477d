import { randomBytes } from 'node:crypto'
import type { Address } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { ChainDefinition } from '../../../src/chain/definition/chainDefinition.js'
import { adviseFees } from '../../../src/chain/fees.js'
import type { HeadFollower } from '../../../src/chain/headFollower.js'
import type { NodeClient } from '../../../src/chain/nodeClient.js'
import { tankFactoryAddress } from '../../../src/contracts/deployments.js'
import { devKey } from '../../../src/devnet/devKeys.js'
import type { Draft } from '../../../src/entrypoint/draft.js'
import type { EntryPoint } from '../../../src/entrypoint/entryPoint.js'
import { estimateOperation } from '../../../src/gas/estimateOperation.js'
import { createOutboundClient, type OutboundClient } from '../../../src/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../../src/outbound/networkGuard.js'
import { createAppFees } from '../../../src/paymaster/appFees.js'
import { createFunds } from '../../../src/paymaster/funds.js'
import { createSponsor } from '../../../src/paymaster/sponsor.js'
import type { SponsorshipRequest } from '../../../src/paymaster/sponsorship.js'
import { defaultTerms } from '../../../src/paymaster/sponsorshipTerms.js'
import { createTanks, type Tank } from '../../../src/paymaster/tanks.js'
import type { Database } from '../../../src/store/database.js'
import type { Engine } from '../../../src/validation/engine.js'
import { createNodeEngine } from '../../../src/validation/node/nodeEngine.js'
import { createApprover } from '../../../src/webhook/approve.js'
import { createWebhooks } from '../../../src/webhook/manage.js'
import { testActor } from '../actor.js'
import { silent } from '../logger.js'

type WorldDefinition = Pick<
  ChainDefinition,
  'chainId' | 'pollInterval' | 'tankFactory' | 'maxVerificationGas' | 'maxBundleGas'
>

export type SponsorWorldParts = {
  readonly database: Database
  readonly node: NodeClient
  readonly heads: HeadFollower
  readonly entryPoint: EntryPoint
  readonly definition: Pick<WorldDefinition, 'chainId'> & Partial<WorldDefinition>
  /** The node's own EVM unless another one is given. */
  readonly engine?: Engine
  /** The key that pays for tanks and owns them. */
  readonly ownerKey?: `0x${string}`
  /** The master key of another world, to share its tanks. */
  readonly masterKey?: Buffer
  /** The way to webhooks; by default only to this machine. */
  readonly client?: OutboundClient
}

export type SponsorWorld = ReturnType<typeof sponsorWorld>

/** All that sponsors operations, as the service puts it together, on a chain that runs. */
export function sponsorWorld(parts: SponsorWorldParts) {
  const { database, node, heads, entryPoint } = parts
  const { engine = createNodeEngine({ node }), ownerKey = devKey(1) } = parts
  const { masterKey = randomBytes(32) } = parts
  const guard = createNetworkGuard(loopback)
  const { client = createOutboundClient(guard) } = parts
  const definition: WorldDefinition = {
    tankFactory: tankFactoryAddress.address,
    maxVerificationGas: 5_000_000n,
    maxBundleGas: 16_777_216n,
    ...parts.definition,
    pollInterval: 20,
  }
  const { chainId } = definition
  const owner = privateKeyToAddress(ownerKey).toLowerCase() as Address

  // The service takes the head that it has; tests mine blocks and ask at once.
  const fees = async () => adviseFees(node, await heads.refresh(), {})
  const estimate = async (at: EntryPoint, draft: Draft) =>
    estimateOperation(
      {
        node,
        engine,
        definition,
        advice: await fees(),
        bundleSize: 1,
        beneficiaryGas: 0,
      },
      at,
      draft,
    )
  const tanks = createTanks({ database, masterKey, node, definition })

  return {
    masterKey,
    definition,
    owner,
    ownerKey,
    fees,
    estimate,
    tanks,
    webhooks: createWebhooks({ database, masterKey, guard, actor: testActor }),
    funds: createFunds({ database, chainId }),
    appFees: createAppFees({
      database,
      masterKey,
      node,
      definition: { ...definition, tokens: [], beneficiary: undefined },
      bundleSize: async () => 1,
      fees,
      dataPrice: async () => undefined,
      estimate,
    }),
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

    /** The tank of an app (null = the shared one), on the chain and with `wei` of deposit. */
    async makeTank(appId: string | null, wei: bigint): Promise<Tank> {
      const tank = await tanks.ensure(appId, entryPoint, owner)
      await tanks.deploy(tank, entryPoint, ownerKey)
      if (wei > 0n) await tanks.deposit(tank, wei, ownerKey)
      await heads.refresh()
      return tank
    },

    /** A request of `appId` that leaves every choice to the service, but for those in `choices`. */
    request(
      appId: string,
      draft: Draft,
      choices: Partial<SponsorshipRequest> = {},
    ): SponsorshipRequest {
      return {
        appId,
        entryPoint,
        draft,
        calculateGasLimits: true,
        expiryDuration: undefined,
        webhookData: undefined,
        signingPhase: undefined,
        ...choices,
      }
    },

    close: () => client.close(),
  }
}
