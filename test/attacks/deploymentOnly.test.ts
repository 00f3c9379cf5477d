import { type Address, type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Draft } from '../../src/entrypoint/draft.js'
import { createPolicies } from '../../src/policy/managePolicies.js'
import type { TermsInput } from '../../src/policy/policySchema.js'
import { type EngineChain, openEngineChain } from '../support/chain/engineChain.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { type SponsorWorld, sponsorWorld } from '../support/service/sponsorWorld.js'
import { TARGET } from '../support/tanks/tankChain.js'

/*
 * A policy pays for deployments only, or for certain calls. The attacker names a factory in an operation
 * of an account that exists, which v0.9 ignores, or has a factory of his own do what no term on calls
 * sees. The tank pays.
 */

const testDatabase = useDatabase()
const factoryData: Hex = '0x12345678'

const version = '0.9'

describe(`EntryPoint v${version}`, () => {
  let chain: EngineChain
  let world: SponsorWorld
  let appId = ''
  let seeds = 0

  beforeAll(async () => {
    chain = await openEngineChain(version)
    const { entryPoint, chainId, engine } = chain
    const { node, heads } = engine
    const { database } = testDatabase()
    world = sponsorWorld({ database, node, heads, entryPoint, definition: { chainId }, engine })
  })
  afterAll(async () => {
    world?.close()
    await chain?.close()
  })
  beforeEach(async () => {
    const { database } = testDatabase()
    appId = await createApp(database)
    await world.makeTank(appId, parseEther('1'))
  })

  const onlyFor = async (terms: TermsInput) => {
    const { database } = testDatabase()
    const { account_id: accountId } = await database
      .selectFrom('apps')
      .select('account_id')
      .where('id', '=', appId)
      .executeTakeFirstOrThrow()
    await createPolicies(database).create(accountId, { appId, name: 'gate', terms })
  }

  const draftOf = async (kind: 'deployed' | 'counterfactual'): Promise<Draft> => {
    const draft = await chain.draft(kind, `gate ${version} ${seeds++}`, { to: TARGET })
    await chain.engine.heads.refresh()
    return { ...draft, ...unsetGas }
  }
  const ask = async (draft: Draft) =>
    (await world.sponsor.sponsor(world.request(appId, draft))).decision
  const factory = () => chain.factories[version] as Address

  test('a factory that is ignored makes no deployment of an operation', async () => {
    await onlyFor({ deploymentOnly: true })
    const existing = { ...(await draftOf('deployed')), factory: factory(), factoryData }
    expect(await ask(existing)).toMatchObject({ sponsored: false, code: 'NOT_A_DEPLOYMENT' })
    expect(await ask(await draftOf('counterfactual'))).toMatchObject({ sponsored: true })
  })

  test('a factory that the policy does not name is not paid for', async () => {
    await onlyFor({ factories: [TARGET] })
    const draft = await draftOf('counterfactual')
    expect(await ask(draft)).toMatchObject({ sponsored: false, code: 'FACTORY_NOT_ALLOWED' })
    expect(await ask(await draftOf('deployed'))).toMatchObject({ sponsored: true })
  })

  test('a factory that the policy names is paid for', async () => {
    await onlyFor({ factories: [factory()] })
    expect(await ask(await draftOf('counterfactual'))).toMatchObject({ sponsored: true })
  })
})
