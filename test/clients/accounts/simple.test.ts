import { beforeAll } from 'vitest'
import { usePurser } from '../../support/service/usePurser.js'
import { placeFamilies } from '../support/accountFamilies.js'
import { describeAccount } from '../support/describeAccount.js'
import { metamaskFamily } from '../support/metamaskFamily.js'
import { simpleFamily } from '../support/simpleFamily.js'

/* Accounts of the development chain on each EntryPoint, MetaMask's, and plain keys (EIP-7702). */

const info = usePurser()
const families = [simpleFamily, metamaskFamily]

beforeAll(() => placeFamilies(families, info()))

for (const family of families) for (const kind of family.kinds(info)) describeAccount(info, kind)
