import { beforeAll } from 'vitest'
import { placeFamilies } from '../../support/accounts/accountFamilies.js'
import { describeAccount } from '../../support/accounts/describeAccount.js'
import { metamaskFamily } from '../../support/accounts/metamaskFamily.js'
import { simpleFamily } from '../../support/accounts/simpleFamily.js'
import { usePurser } from '../../support/service/usePurser.js'

/* Accounts of the development chain on each EntryPoint, MetaMask's, and plain keys (EIP-7702). */

const info = usePurser()
const families = [simpleFamily, metamaskFamily]

beforeAll(() => placeFamilies(families, info()))

for (const family of families) for (const kind of family.kinds(info)) describeAccount(info, kind)
