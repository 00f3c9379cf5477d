import { expect, test } from 'vitest'
import { schemaVersion, version } from '../base/version.js'
import { createMetrics } from './createMetrics.js'

type Described = { readonly name: string; readonly help: string; readonly type: string }

/** What `promtool check metrics` would say of one metric: the naming rules of Prometheus. */
function lint({ name, help, type }: Described): readonly string[] {
  const unit =
    /(^|_)(milli|micro|nano)?(seconds?|sec|ms|minutes?|hours?|days?|kilobytes|kb|mb|gb)(_|$)/
  const [word = ''] = unit.exec(name) ?? []
  const problems = [
    [help === '', 'has no help'],
    [type === 'counter' && !name.endsWith('_total'), 'is a counter without _total'],
    [type !== 'counter' && name.endsWith('_total'), 'is no counter and ends in _total'],
    [type !== 'histogram' && /_(bucket|count|sum)$/.test(name), 'has the suffix of a histogram'],
    [!/^[a-z_][a-z0-9_]*$/.test(name), 'is not in lower case with underscores'],
    [/_(counter|gauge|histogram|summary)(_|$)/.test(name), 'has its type in its name'],
    [word !== '' && !word.includes('seconds'), 'is not in base units'],
  ] as const
  return problems.filter(([is]) => is).map(([, problem]) => `${name} ${problem}`)
}

/** Every metric that a process shows, those without a value too. */
async function described(): Promise<readonly Described[]> {
  const text = await createMetrics().text()
  const helps = new Map(
    [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => [name, help]),
  )
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
    help: helps.get(name) ?? '',
  }))
}

test('every metric is named by the rules of Prometheus', async () => {
  const metrics = await described()
  expect(metrics.length).toBeGreaterThan(30)
  expect(metrics.flatMap(lint)).toEqual([])
})

test('the rules find what they are for', () => {
  const bad = { name: 'purser_wait_ms_total', help: '', type: 'gauge' }
  expect(lint(bad)).toEqual([
    'purser_wait_ms_total has no help',
    'purser_wait_ms_total is no counter and ends in _total',
    'purser_wait_ms_total is not in base units',
  ])
})

test('a process says its version and the schema that it knows, also before its gauges are read', async () => {
  expect(await createMetrics().text()).toContain(
    `purser_build_info{version="${version}",schema="${schemaVersion}"} 1`,
  )
})
