import { expect, test } from 'vitest'
import type { WebhookCall, WebhookOutcome } from '../../webhooks/approval.js'
import { checkApproval } from './checkApproval.js'

function call(webhookId: string, outcome: WebhookOutcome, reason?: string): WebhookCall {
  return {
    webhookId,
    outcome,
    reason,
    httpStatus: undefined,
    attempts: 1,
    durationMs: 1,
    startedAt: new Date(0),
    passed: outcome === 'approved',
  }
}
function check(...calls: WebhookCall[]) {
  return checkApproval({ approved: calls.every(({ outcome }) => outcome === 'approved'), calls })
}

test('no webhook, or the approval of all, passes', () => {
  expect(check()).toBeUndefined()
  expect(check(call('a', 'approved'), call('b', 'approved'))).toBeUndefined()
})

test('one denial refuses, in the words of the customer', () => {
  const refusal = check(call('a', 'approved'), call('b', 'denied', 'quota used'))
  expect(refusal).toEqual({
    code: 'WEBHOOK_DENIED',
    message: 'Webhook b denied the sponsorship: quota used',
  })
  expect(check(call('a', 'denied'))?.message).toBe('Webhook a denied the sponsorship.')
})

test('one failure refuses and names its outcome', () => {
  const refusal = check(call('a', 'approved'), call('b', 'timeout', 'late.'))
  expect(refusal?.code).toBe('WEBHOOK_FAILED')
  expect(refusal?.message).toContain('(timeout): late.')
})

test('a denial comes before a failure', () => {
  expect(check(call('a', 'timeout'), call('b', 'denied'))?.code).toBe('WEBHOOK_DENIED')
})

test('a failure passes where the webhook says so, a denial never does', () => {
  const tolerant = { ...call('a', 'timeout'), passed: true }
  expect(check(tolerant, call('b', 'approved'))).toBeUndefined()
  expect(check(tolerant, call('b', 'denied'))?.code).toBe('WEBHOOK_DENIED')
  expect(check(tolerant, call('b', 'timeout'))?.message).toContain('Webhook b')
})
