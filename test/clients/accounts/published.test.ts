import { beforeAll, describe, expect, test } from 'vitest'
import { nodeClient } from '../../support/service/smartAccounts.js'
import { usePurser } from '../../support/service/usePurser.js'
import { describeAccount } from '../support/describeAccount.js'
import { provenAddress } from '../support/published/publishedContract.js'
import { publishedAbsences, publishedFamilies } from '../support/published/publishedFamilies.js'

/* Accounts that no package of npm holds, created by the transactions that created them on public chains. */

for (const absence of publishedAbsences) test.skip(absence, () => {})

if (publishedFamilies.length > 0)
  describe('accounts as published', () => {
    const info = usePurser()

    beforeAll(async () => {
      for (const family of publishedFamilies) await family.place(info())
    })

    for (const family of publishedFamilies) {
      // A deployer that does not commit to the code says nothing of a contract that no client names.
      const comparable = family
        .contracts()
        .filter((contract) => (provenAddress(contract) ?? contract.address) !== undefined)

      test.each(comparable)('$name is where others look for it', async (contract) => {
        const { address: named, client } = contract
        const address = provenAddress(contract) ?? named!
        if (named !== undefined) expect(address.toLowerCase()).toBe(named.toLowerCase())
        if (client !== undefined) expect(client.toLowerCase()).toContain(address.toLowerCase())
        expect(await nodeClient(info()).getCode({ address })).toMatch(/^0x[0-9a-f]{20}/)
      })

      for (const kind of family.kinds(info)) describeAccount(info, kind)
    }
  })
