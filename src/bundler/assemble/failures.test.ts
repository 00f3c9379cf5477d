import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { type BundledEntities, responsibleEntity, roleOfFailure } from './failures.js'

const sender: Address = `0x${'11'.repeat(20)}`
const factory: Address = `0x${'22'.repeat(20)}`
const paymaster: Address = `0x${'33'.repeat(20)}`
const entities: BundledEntities = {
  sender,
  factory,
  paymaster,
  accountStaked: false,
  factoryStaked: false,
}

test.each([
  ['factory', {}, factory],
  ['account', {}, undefined],
  ['account', { accountStaked: true }, sender],
  ['account', { factoryStaked: true }, factory],
  ['account', { factoryStaked: true, accountStaked: true }, factory],
  ['account', { factory: undefined, accountStaked: true }, sender],
  ['paymaster', {}, paymaster],
  ['paymaster', { accountStaked: true }, sender],
] as const)('for the %s, with %j, %s is responsible', (role, changes, address) => {
  expect(responsibleEntity(role, { ...entities, ...changes })?.address).toBe(address)
})

test.each([
  ['AA13', 'factory'],
  ['AA23', 'account'],
  ['AA24', 'account'],
  ['AA33', 'paymaster'],
  ['AA50', 'paymaster'],
  [undefined, 'account'],
  ['AA25', undefined],
  ['AA10', undefined],
  ['AA22', undefined],
  ['AA32', undefined],
])('for %s the %s is responsible', (code, role) => {
  expect(roleOfFailure(code)).toBe(role)
})
