import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataFeeKinds } from '../chain/definition/dataFee.js'
import { chainPresets, presetNames } from './chainPresets.js'
import { chainEntry, toChainDefinition } from './chainSchema.js'

const rpcUrls = ['http://127.0.0.1:8545']
const executorKeys = [`0x${'11'.repeat(32)}` as const]
function parse(chain: object) {
  return toChainDefinition(chainEntry.parse(chain), (key) => key as `0x${string}`)
}

test.each(presetNames)('%s, nodes and keys are a whole configuration', (preset) => {
  const definition = parse({ preset, rpcUrls, executorKeys })
  const { dataFee = 'none', ...facts } = { dataFee: undefined, ...chainPresets[preset] }
  expect(definition).toMatchObject({ ...facts, dataFee, rpcUrls, executorKeys })
  expect(dataFeeKinds).toContain(dataFee)
  expect(definition).not.toHaveProperty('preset')
})

test('each preset is another chain', () => {
  const ids = presetNames.map((name) => chainPresets[name].chainId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBeGreaterThanOrEqual(20)
})

test('what a chain configures itself wins over its preset', () => {
  const definition = parse({ preset: 'base', rpcUrls, finalityDepth: 7, name: 'mine' })
  expect(definition).toMatchObject({ chainId: 8_453, finalityDepth: 7, name: 'mine' })
  expect(definition).toMatchObject({ dataFee: 'opStack', maxBundleBytes: 90_000 })
})

test('a chainId that the preset contradicts is refused, and so is an unknown preset', () => {
  expect(parse({ preset: 'base', chainId: 8_453, rpcUrls }).chainId).toBe(8_453)
  const other = chainEntry.safeParse({ preset: 'base', chainId: 10, rpcUrls })
  expect(other.error?.issues).toMatchObject([
    { path: ['chainId'], message: 'is not that of the preset: leave it out, or the preset' },
  ])
  const unknown = chainEntry.safeParse({ preset: 'bse', chainId: 10, rpcUrls })
  expect(unknown.error?.issues).toMatchObject([{ path: ['preset'] }])
  expect(unknown.error?.issues[0]?.message).toContain('"base"')
})

test('docs/rollups.md lists every preset under its dataFee', () => {
  const page = readFileSync(new URL('../../docs/rollups.md', import.meta.url), 'utf8')
  const [, table = ''] = page.split('## Presets')
  const rows = [...table.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)]
  const listed = rows.flatMap(([, kind, names = '']) =>
    [...names.matchAll(/`([\w-]+)`/g)].map(([, name]) => [name, kind]),
  )
  const actual = Object.entries(chainPresets).map(([name, preset]) => [
    name,
    'dataFee' in preset ? preset.dataFee : 'none',
  ])
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(actual))
})
