import { type Address, getCreate2Address, zeroHash } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { describeAccount } from '../../support/accounts/describeAccount.js'
import { safeContracts } from '../../support/accounts/placeSafe.js'
import { safeFamily } from '../../support/accounts/safeFamily.js'
import { usePurser } from '../../support/service/usePurser.js'

/* The real contracts of Safe, by permissionless as it is. */

const info = usePurser()

beforeAll(() => safeFamily.place(info()))

/** Safe's factory of singletons, at this address on public chains. */
const SINGLETON_FACTORY: Address = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7'

test.each(safeContracts())('the code for $address is the one of public chains', (contract) => {
  const created = { from: SINGLETON_FACTORY, salt: zeroHash, bytecode: contract.code }
  expect(getCreate2Address(created)).toBe(contract.address)
})

for (const kind of safeFamily.kinds(info)) describeAccount(info, kind)
