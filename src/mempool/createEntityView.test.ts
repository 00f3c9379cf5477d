import type { Address } from 'viem'
import { describe, expect, test } from 'vitest'
import { type AdmittedEntities, createEntityView } from './createEntityView.js'
import type { EntityFacts } from './pool/reputations.js'

const entryPoint: Address = `0x${'ee'.repeat(20)}`
const sender: Address = `0x${'11'.repeat(20)}`
const factory: Address = `0x${'22'.repeat(20)}`
const paymaster: Address = `0x${'33'.repeat(20)}`
const unstaked = { account: false, factory: false, paymaster: false }
const operation: AdmittedEntities = {
  entryPoint,
  sender,
  factory,
  paymaster,
  staked: unstaked,
  excepted: [],
}

function facts(address: Address, known: Partial<EntityFacts> = {}): EntityFacts {
  return {
    entryPoint,
    address,
    opsSeen: 0,
    opsIncluded: 0,
    trusted: false,
    asSender: 0,
    asPaymaster: 0,
    asFactory: 0,
    ...known,
  }
}

function view(known: Partial<Record<Address, Partial<EntityFacts>>> = {}) {
  return createEntityView([sender, factory, paymaster].map((each) => facts(each, known[each])))
}

const ROLES = ['account', 'factory', 'paymaster'] as const

const banned = { opsSeen: 600 }
const throttled = { opsSeen: 200 }

describe('reputation at admission', () => {
  test('lets entities pass that nobody knows', () => {
    expect(view().refuse(operation, undefined)).toBeUndefined()
  })

  test.each([
    ['account', sender],
    ['factory', factory],
    ['paymaster', paymaster],
  ])('refuses a banned %s, staked or not', (role, address) => {
    for (const staked of [unstaked, { account: true, factory: true, paymaster: true }]) {
      const error = view({ [address]: banned }).refuse({ ...operation, staked }, undefined)
      expect(error).toMatchObject({ code: -32504, rule: 'GREP-010', data: { [role]: address } })
    }
  })

  test.each([
    [sender, 'asSender'],
    [factory, 'asFactory'],
    [paymaster, 'asPaymaster'],
  ])('lets %s, which is throttled, have four operations', (address, role) => {
    const having = (count: number) => view({ [address]: { ...throttled, [role]: count } })
    // 200 were seen, four of which wait: 196 are held against it.
    expect(having(3).refuse(operation, undefined)).toBeUndefined()
    expect(having(4).refuse(operation, undefined)).toMatchObject({
      code: -32504,
      rule: 'GREP-020',
    })
  })

  test('lets an unstaked paymaster have ten operations and a staked one any number', () => {
    const having = (asPaymaster: number) => view({ [paymaster]: { asPaymaster } })
    expect(having(9).refuse(operation, undefined)).toBeUndefined()
    expect(having(10).refuse(operation, undefined)).toMatchObject({
      code: -32505,
      rule: 'UREP-020',
    })
    const staked = { ...unstaked, paymaster: true }
    expect(having(500).refuse({ ...operation, staked }, undefined)).toBeUndefined()
  })

  test.each([
    ['account', sender, 'asSender'],
    ['factory', factory, 'asFactory'],
    ['paymaster', paymaster, 'asPaymaster'],
  ] as const)(
    'lets an unstaked %s that breaks a rule by an exception have four operations',
    (role, address, count) => {
      const having = (pending: number) => view({ [address]: { [count]: pending } })
      const excepted = { ...operation, excepted: [role] }
      const others = { ...operation, excepted: ROLES.filter((each) => each !== role) }
      expect(having(3).refuse(excepted, undefined)).toBeUndefined()
      expect(having(4).refuse(others, undefined)).toBeUndefined()
      expect(having(4).refuse(excepted, undefined)).toMatchObject({
        code: -32505,
        data: { [role]: address, limit: 4 },
      })
      const staked = { ...unstaked, [role]: true }
      expect(having(500).refuse({ ...excepted, staked }, undefined)).toBeUndefined()
    },
  )

  test('counts what it took, so that ten of eleven at once pass', () => {
    const shared = view()
    const { factory: _, ...rest } = operation
    const plain = { ...rest, factory: undefined }
    const errors = Array.from({ length: 11 }, () => {
      const error = shared.refuse(plain, undefined)
      if (!error) shared.take(plain, undefined)
      return error
    })
    expect(errors.filter((error) => error === undefined)).toHaveLength(10)
  })

  test('asks a replacement only for what it adds', () => {
    const full = view({ [paymaster]: { asPaymaster: 10 } })
    expect(full.refuse(operation, { paymaster })).toBeUndefined()
    expect(full.refuse(operation, { paymaster: null })).toMatchObject({ rule: 'UREP-020' })
  })

  test('asks nothing of a tank and does not count it', () => {
    const shared = view({ [paymaster]: { ...banned, trusted: true, asPaymaster: 0 } })
    expect(shared.refuse(operation, undefined)).toBeUndefined()
    expect(shared.counted(operation)).toEqual([factory])
  })

  test('counts senders that are staked', () => {
    const staked = { ...unstaked, account: true }
    expect(view().counted(operation)).toEqual([factory, paymaster])
    expect(view().counted({ ...operation, staked })).toEqual([sender, factory, paymaster])
  })

  test('keeps senders and other entities apart (STO-040)', () => {
    const rule = (known: Partial<Record<Address, Partial<EntityFacts>>>) =>
      view(known).refuse(operation, undefined)
    expect(rule({ [sender]: { asPaymaster: 1 } })).toMatchObject({ code: -32502, rule: 'STO-040' })
    expect(rule({ [sender]: { asFactory: 1 } })).toMatchObject({ rule: 'STO-040' })
    expect(rule({ [paymaster]: { asSender: 1 } })).toMatchObject({
      rule: 'STO-040',
      message: `paymaster ${paymaster} is used as a sender entity in another UserOperation currently in mempool (STO-040)`,
    })
    expect(rule({ [factory]: { asSender: 1 } })).toMatchObject({ rule: 'STO-040' })
    expect(rule({ [factory]: { asPaymaster: 1 }, [sender]: { asSender: 1 } })).toBeUndefined()
  })
})
