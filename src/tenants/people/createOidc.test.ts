import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createOidc, type OidcSettings, readPerson } from './createOidc.js'

function settings(roles: OidcSettings['roles'] = []): OidcSettings {
  return {
    issuer: 'https://id.example',
    clientId: 'console',
    clientSecret: undefined,
    name: 'id',
    scopes: ['openid'],
    domains: ['company.example'],
    groupsClaim: 'teams',
    roles,
  }
}

test('a provider on this machine may have an IPv6 address', () => {
  createOidc({ ...settings(), issuer: 'http://[::1]:1' }).close()
})

const ada = { sub: 'ada-1', email: 'Ada@Company.example', email_verified: true }

test('an address counts when the provider verified it, and is believed for its domain', () => {
  const emailOf = (claims: object) => readPerson({ ...ada, ...claims }, settings()).email
  expect(emailOf({})).toBe('ada@company.example')
  expect(emailOf({ email_verified: false })).toBeUndefined()
  expect(emailOf({ email_verified: undefined })).toBeUndefined()
  expect(emailOf({ email_verified: 'true' })).toBeUndefined()
  expect(emailOf({ email: 'ada@other.example' })).toBeUndefined()
  expect(emailOf({ email: 'ada@evil.example@company.example' })).toBeUndefined()
  expect(emailOf({ email: 'ada@sub.company.example' })).toBeUndefined()
  expect(emailOf({ email: 'ada@cоmpany.example' })).toBeUndefined()
  expect(emailOf({ email: ['ada@company.example'] })).toBeUndefined()
})

test('of the rules that fit the highest role counts; accounts without one are named too', () => {
  const rules: OidcSettings['roles'] = [
    { group: 'ops', account: 'a', role: 'admin' },
    { domain: 'company.example', account: 'a', role: 'viewer' },
    { group: 'ops', account: 'b', role: 'developer' },
  ]
  const rolesOf = (claims: object) => [...readPerson({ ...ada, ...claims }, settings(rules)).roles]
  const none = [
    ['a', 'viewer'],
    ['b', undefined],
  ]
  expect(rolesOf({ teams: ['ops', 'all'] })).toEqual([
    ['a', 'admin'],
    ['b', 'developer'],
  ])
  expect(rolesOf({ teams: 'ops' })).toEqual([
    ['a', 'admin'],
    ['b', 'developer'],
  ])
  expect(rolesOf({ teams: ['OPS'] })).toEqual(none)
  expect(rolesOf({ groups: ['ops'] })).toEqual(none)
  expect(rolesOf({ email_verified: false })).toEqual([
    ['a', undefined],
    ['b', undefined],
  ])
})

test('no claims give a role that no rule gives, whatever they are', () => {
  const role = fc.constantFrom('viewer' as const, 'developer' as const, 'admin' as const)
  const word = fc.constantFrom('x', 'y', 'z')
  const rule = fc.record({ group: word, account: word, role })
  fc.assert(
    fc.property(fc.array(rule), fc.array(word), fc.jsonValue(), (rules, teams, noise) => {
      const person = readPerson({ noise, ...ada, teams }, settings(rules))
      const accounts = new Set(rules.map(({ account }) => account))
      expect(new Set(person.roles.keys())).toEqual(accounts)
      for (const [account, given] of person.roles) {
        const fitting = rules.filter(
          (each) => each.account === account && teams.includes(each.group),
        )
        if (given === undefined) expect(fitting).toEqual([])
        else expect(fitting.map((each) => each.role)).toContain(given)
      }
    }),
  )
})
