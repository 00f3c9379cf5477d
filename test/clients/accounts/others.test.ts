import { getCreate2Address, zeroHash } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { usePurser } from '../../support/service/usePurser.js'
import { placeFamilies } from '../support/accountFamilies.js'
import { biconomyFamily } from '../support/biconomyFamily.js'
import { describeAccount } from '../support/describeAccount.js'
import { etherspotFamily } from '../support/etherspotFamily.js'
import { kernelFamily } from '../support/kernelFamily.js'
import { kernel2Contracts } from '../support/placeKernel2.js'
import { thirdwebFamily } from '../support/thirdwebFamily.js'

/* The real contracts of other vendors, by their clients or by permissionless, as these are. */

const info = usePurser()
const families = [kernelFamily, thirdwebFamily, biconomyFamily, etherspotFamily]

beforeAll(() => placeFamilies(families, info()))

/** ZeroDev's deployer of 2023, at this address on public chains. */
const DEPLOYER = '0x7A0D94F55792C434d74a40883C6ed8545E406D12'

test.each(kernel2Contracts())('the code for $address is the one of public chains', (contract) => {
  const created = { from: DEPLOYER, salt: zeroHash, bytecode: contract.code } as const
  expect(getCreate2Address(created)).toBe(contract.address)
})

for (const family of families) for (const kind of family.kinds(info)) describeAccount(info, kind)
