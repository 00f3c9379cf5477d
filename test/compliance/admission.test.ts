import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EntryPoint, Version } from '../../src/entrypoint/entryPoint.js'
import { type ComplianceChain, openComplianceChain } from '../support/complianceChain.js'
import { createCast, type Play } from '../validation/erc7562/cast.js'
import { type Cast, cases } from './cases.js'

const VERSIONS: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']

let chain: ComplianceChain

beforeAll(async () => {
  chain = await openComplianceChain(VERSIONS)
  await chain.debug('setBundlingMode', 'manual')
})
afterAll(() => chain?.stop())

describe.each(VERSIONS)('eth_sendUserOperation to EntryPoint v%s', (version) => {
  let entryPoint: EntryPoint
  let actors: Record<'account' | 'factory' | 'paymaster' | 'stranger', Address>
  let staked: Record<'factory' | 'paymaster', Address>

  beforeAll(async () => {
    entryPoint = chain.entryPoints.get(version)!
    const actor = () => chain.createActor(entryPoint)
    actors = {
      account: await actor(),
      factory: await actor(),
      paymaster: await actor(),
      stranger: await actor(),
    }
    staked = { factory: await actor(), paymaster: await actor() }
    for (const each of Object.values(staked)) await chain.stake(entryPoint, each)
  })

  /** The actors of a play: staked ones where it asks for them. */
  function castFor(play: (cast: Cast) => Play) {
    const packed = version !== '0.6'
    const unstaked = createCast({ ...actors, packed })
    const wanted = play({ ...actors, entryPoint: entryPoint.address, created: actors.account })
    const { staked: roles = [] } = wanted
    const chosen = { ...actors }
    for (const role of roles) if (role !== 'account') chosen[role] = staked[role]
    const cast = roles.length > 0 ? createCast({ ...chosen, packed }) : unstaked
    const created = cast.senderOf({ deploys: {} })
    const played = play({ ...chosen, entryPoint: entryPoint.address, created })
    return { op: cast.operation(played) }
  }

  test.each(cases)('$name', async ({ play, breaks }) => {
    await chain.debug('clearState')
    const { op } = castFor(play)
    if (op.factory) await chain.deposit(entryPoint, op.sender)
    const { result, error } = await chain.send(entryPoint, op)
    const pool = await chain.debug('dumpMempool', entryPoint.address)
    if (breaks === undefined) {
      expect({ error, result }).toEqual({ error: undefined, result: expect.any(String) })
      expect(pool).toHaveLength(1)
    } else {
      expect(error).toMatchObject({ code: -32502, message: expect.stringContaining(breaks) })
      expect(pool).toEqual([])
    }
  })
})
