import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainInput } from '../../src/chain/definition/chainDefinition.js'
import type { EntryPoint, Version } from '../../src/erc4337/entryPoint.js'
import { type ComplianceChain, openComplianceChain } from '../support/chain/complianceChain.js'
import { openCaseActors } from './caseActors.js'
import { cases } from './cases.js'

/** Tests that a service with these settings of its chain takes and refuses what ERC-7562 says. */
export function describeAdmission(
  versions: readonly Version[],
  settings: Partial<ChainInput> = {},
): void {
  let chain: ComplianceChain

  beforeAll(async () => {
    chain = await openComplianceChain(versions, settings)
    await chain.debug('setBundlingMode', 'manual')
  })
  afterAll(() => chain?.stop())

  describe.each(versions)('eth_sendUserOperation to EntryPoint v%s', (version) => {
    let entryPoint: EntryPoint
    let caseActors: Awaited<ReturnType<typeof openCaseActors>>

    beforeAll(async () => {
      entryPoint = chain.entryPoints.get(version)!
      caseActors = await openCaseActors(chain, entryPoint)
    })

    test.each(cases)('$name', async ({ scenario, breaks, says }) => {
      await chain.debug('clearState')
      const op = caseActors.operationOf(scenario)
      if (op.factory) await chain.deposit(entryPoint, op.sender)
      const { result, error } = await chain.send(entryPoint, op)
      const pool = await chain.debug('dumpMempool', entryPoint.address)
      if (breaks === undefined) {
        expect({ error, result }).toEqual({ error: undefined, result: expect.any(String) })
        expect(pool).toHaveLength(1)
      } else {
        const message = expect.stringContaining(says ?? breaks)
        expect(error).toMatchObject({ code: says === undefined ? -32502 : -32602, message })
        expect(pool).toEqual([])
      }
    })
  })
}
