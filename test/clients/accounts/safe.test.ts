import { type Address, getCreate2Address, numberToHex, zeroHash } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { result } from '../../support/http/jsonRpc.js'
import { fund } from '../../support/service/smartAccounts.js'
import { usePurser } from '../../support/service/usePurser.js'
import { describeAccount } from '../support/describeAccount.js'
import { safeContracts } from '../support/placeSafe.js'
import { safeFamily } from '../support/safeFamily.js'

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

test('what a Safe with Safe7579 is estimated at does not depend on the hash, by which its gas differs', async () => {
  const account = await safeFamily.kinds(info).at(-1)!.open('hash')
  await fund(info(), account.address)
  const draft = {
    sender: account.address,
    nonce: numberToHex(await account.getNonce()),
    ...(await account.getFactoryArgs()),
    callData: await account.encodeCalls([{ to: SINGLETON_FACTORY, data: '0x' }]),
    signature: await account.getStubSignature(),
  }
  const limits: bigint[] = []
  for (let fee = 2_000_000_000; fee < 2_000_000_030; fee++) {
    const [maxFeePerGas, maxPriorityFeePerGas] = [numberToHex(fee), numberToHex(1)]
    const op = { ...draft, maxFeePerGas, maxPriorityFeePerGas }
    const params = [op, account.entryPoint.address]
    const estimate = await result(info().standardUrl, 'eth_estimateUserOperationGas', params)
    limits.push(BigInt(estimate.verificationGasLimit))
  }
  const [least, ...more] = limits.sort((a, b) => Number(a - b))
  expect(more.at(-1)! - least!).toBeLessThan(10n)
})
