import type { Hex } from 'viem'
import { beforeEach } from 'vitest'
import type { Draft } from '../../../src/erc4337/draft.js'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { SponsorshipRequest } from '../../../src/paymaster/sponsorship.js'
import { createApp } from '../database/createApp.js'
import { unsetGas } from '../operations/unsetGas.js'
import { useWorld } from '../world.js'
import type { WorldSettings } from './openWorld.js'
import { type SenderKind, TARGET } from './versionChain.js'

let seeds = 0

/** A new app for each test, on a world of one EntryPoint version, whose users ask for sponsorship. */
export function useSponsoredApp(version: Version, settings: WorldSettings = {}) {
  const world = useWorld({ versions: [version], ...settings })
  const chain = () => world().at(version)
  let appId = ''
  beforeEach(async () => {
    appId = await createApp(world().database)
  })
  const requestFor = (draft: Draft, choices?: Partial<SponsorshipRequest>) =>
    world().request(appId, draft, choices)
  return {
    world,
    chain,
    appId: () => appId,
    makeTank: (wei: bigint) => world().makeTank(appId, wei),
    /** An operation of a fresh sender, of which the service sets gas and fees. */
    async draftOf(kind: SenderKind, data: Hex = '0x') {
      const seed = `sponsored ${version} ${seeds++}`
      const drafted = await chain().draft(kind, seed, { to: TARGET, data })
      const draft: Draft = { ...drafted, ...unsetGas }
      return { seed, draft }
    },
    requestFor,
    ask: (draft: Draft, choices?: Partial<SponsorshipRequest>) =>
      world().sponsor(requestFor(draft, choices)),
    /** The EntryPoint's own word on the signed operation, in an eth_call. */
    refusalOf: async (op: Operation, seed: string) =>
      chain().failureOf([await chain().sign(op, seed)]),
  }
}
