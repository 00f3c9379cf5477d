import { type Address, type Hex, parseEther } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Draft } from '../../src/erc4337/draft.js'
import { policiesOn } from '../support/database/policiesOn.js'
import type { TermsInput } from '../../src/paymaster/policy/policySchema.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'
import type { SenderKind } from '../support/world/versionChain.js'
import { TARGET } from '../support/world/versionChain.js'

/*
 * A policy pays for deployments only, or for certain calls. The attacker names a factory in an operation
 * of an account that exists, which v0.9 ignores, or has a factory of his own do what no term on calls
 * sees. The tank pays.
 */

const factoryData: Hex = '0x12345678'

const version = '0.9'

describe(`EntryPoint v${version}`, () => {
  const { world, chain, appId, makeTank, ...app } = useSponsoredApp(version)
  beforeEach(() => makeTank(parseEther('1')))

  const onlyFor = async (terms: TermsInput) => {
    const { database } = world()
    const { account_id: accountId } = await database
      .selectFrom('apps')
      .select('account_id')
      .where('id', '=', appId())
      .executeTakeFirstOrThrow()
    await policiesOn(database).create(accountId, { appId: appId(), name: 'gate', terms })
  }

  const draftOf = async (kind: SenderKind) => (await app.draftOf(kind)).draft
  const ask = async (draft: Draft) => (await app.ask(draft)).decision
  const factory = () => chain().factories[version] as Address

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
