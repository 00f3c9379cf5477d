import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAnswer } from './approvalAnswer.js'

function read(body: string) {
  return readAnswer({ ok: true, status: 200, type: 'application/json', body })
}

test('true approves and false denies, each with its reason', () => {
  expect(read('{"arePoliciesVerified":true}')).toEqual({ outcome: 'approved', reason: undefined })
  expect(read('{"arePoliciesVerified":false,"reason":" over\\nquota "}')).toEqual({
    outcome: 'denied',
    reason: 'over quota',
  })
})

test('a reason is cut to 200 characters, not in the middle of one', () => {
  const { reason } = read(JSON.stringify({ arePoliciesVerified: false, reason: '😀'.repeat(300) }))
  expect(reason).toBe('😀'.repeat(200))
})

test('a reason that is no text, or empty, is none', () => {
  for (const reason of [1, null, {}, '', ' \u0000 ']) {
    expect(read(JSON.stringify({ arePoliciesVerified: true, reason })).reason).toBeUndefined()
  }
})

test.each([
  '{"arePoliciesVerified":"true"}',
  '{"arePoliciesVerified":1}',
  '{"arePoliciesVerified":null}',
  '{"arePoliciesVerified":[true]}',
  '{"data":{"arePoliciesVerified":true}}',
  '{}',
  '[]',
  'true',
  'null',
  '"arePoliciesVerified"',
])('%s is no answer', (body) => {
  expect(read(body).outcome).toBe('invalid_response')
})

test.each(['', 'ok', '{"arePoliciesVerified":true', '{arePoliciesVerified:true}'])(
  '%j is not JSON',
  (body) => {
    expect(read(body).outcome).toBe('invalid_json')
  },
)

test('nothing but the boolean true approves', () => {
  fc.assert(
    fc.property(fc.json(), (body) => {
      const parsed = JSON.parse(body)
      const approves = parsed !== null && parsed.arePoliciesVerified === true
      expect(read(body).outcome === 'approved').toBe(approves)
    }),
  )
})

test('a failure keeps its code and sentence', () => {
  const failure = { ok: false, outcome: 'timeout', reason: 'late', status: undefined } as const
  expect(readAnswer(failure)).toEqual({ outcome: 'timeout', reason: 'late' })
})
