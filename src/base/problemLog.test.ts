import { expect, test } from 'vitest'
import { createProblemLog } from './problemLog.js'

test('a problem is logged when it begins, when its reason changes and when it ends, each of each thing', () => {
  const lines: string[] = []
  const line = (level: string) => (facts: object, message: string) =>
    lines.push([level, message, (facts as { reason?: string }).reason].filter(Boolean).join(' '))
  const logger = { info: line('info'), warn: line('warn'), error: line('error') }
  const problems = createProblemLog(logger as never)
  problems.end('a', 'it fails')
  for (let i = 0; i < 3; i++) {
    problems.warn('a', 'it fails', { reason: 'early' })
    problems.error('b', 'it fails', {})
  }
  problems.warn('a', 'it fails', { reason: 'late' })
  problems.end('a', 'it fails')
  problems.end('a', 'it fails')
  problems.warn('a', 'it fails', { reason: 'late' })
  expect(lines).toEqual([
    'warn it fails early',
    'error it fails',
    'warn it fails late',
    'info over: it fails',
    'warn it fails late',
  ])
})
