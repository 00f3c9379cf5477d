import type { Address, Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { createNetworkGuard, loopback } from '../../../src/base/outbound/networkGuard.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import type { Draft } from '../../../src/erc4337/draft.js'
import type { EntryPoint } from '../../../src/erc4337/entryPoint.js'
import type { SponsorshipRequest } from '../../../src/paymaster/sponsorship.js'
import { createTanks, type Tank } from '../../../src/paymaster/tanks.js'
import type { ChainParts, OpenChain } from '../../../src/service/openChain.js'
import { createWebhooks } from '../../../src/webhooks/manage.js'
import { localSigner } from '../../../src/chain/signing/localSigner.js'
import { testActor } from '../actor.js'
import { fundsOn } from '../database/fundsOn.js'

/** The key that pays for tanks and owns them. */
export const tankOwnerKey: Hex = devKey(3)

/** What an app and its operator do so that its operations are sponsored. */
export function sponsoringActs(
  { definition, node, heads, entryPoints }: OpenChain,
  { database, masterKey }: ChainParts,
) {
  const { chainId } = definition
  const owner = privateKeyToAddress(tankOwnerKey).toLowerCase() as Address
  // Nobody but the test mines: a receipt is there at the first look, or soon.
  const tanks = createTanks({
    database,
    masterKey,
    node,
    definition: { ...definition, pollInterval: 20 },
  })
  return {
    owner,
    tanks,
    funds: fundsOn(database, chainId),
    webhooks: createWebhooks({
      database,
      masterKey,
      guard: createNetworkGuard(loopback),
      actor: testActor,
    }),
    /** The tank of an app (null = the shared one), on the chain and with `wei` of deposit. */
    async makeTank(appId: string | null, wei: bigint, entryPoint = entryPoints[0]!): Promise<Tank> {
      const tank = await tanks.ensure(appId, entryPoint, owner)
      await tanks.deploy(tank, entryPoint, localSigner(tankOwnerKey))
      if (wei > 0n) await tanks.deposit(tank, wei, localSigner(tankOwnerKey))
      await heads.refresh()
      return tank
    },
    /** A request of `appId` that leaves every choice to the service, but for those in `choices`. */
    request(
      appId: string,
      draft: Draft,
      choices: Partial<SponsorshipRequest> = {},
    ): SponsorshipRequest & { readonly entryPoint: EntryPoint } {
      return {
        appId,
        entryPoint: entryPoints[0]!,
        draft,
        calculateGasLimits: true,
        expiryDuration: undefined,
        policyIds: undefined,
        webhookData: undefined,
        signingPhase: undefined,
        requester: undefined,
        ...choices,
      }
    },
  }
}
