import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../base/errors/configError.js'
import { loadConfig } from './loadConfig.js'
import { flagOf, type OptionName, options, variableOf } from './options.js'
import { resolveChains } from './resolveChains.js'

const KEY = `0x${'11'.repeat(32)}` as const
const chain = { chainId: 10, rpcUrls: ['http://127.0.0.1:8545'], executorKeys: [KEY] }

let folder: string
let count = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'purser-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function withFile(content: unknown): string {
  const path = join(folder, `${count++}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function load(
  flags: Record<string, unknown>,
  environment: Record<string, string> = {},
  content: unknown = {},
) {
  return loadConfig({ flags, environment, file: withFile(content) }).config
}

describe('loadConfig', () => {
  test('gives defaults when nothing is set', () => {
    const config = load({})
    expect(config).toMatchObject({ port: 4337, host: '127.0.0.1', data: '.purser', chains: [] })
    expect(config.databaseUrl).toBeUndefined()
  })

  test('a flag wins over the environment, that over the file, that over the default', () => {
    const file = { port: 3 }
    expect(load({ port: '1' }, { PURSER_PORT: '2' }, file).port).toBe(1)
    expect(load({}, { PURSER_PORT: '2' }, file).port).toBe(2)
    expect(load({}, {}, file).port).toBe(3)
  })

  test('every option has its own flag and variable', () => {
    const names = Object.keys(options) as OptionName[]
    expect(new Set(names.map(flagOf)).size).toBe(names.length)
    expect(new Set(names.map(variableOf)).size).toBe(names.length)
    expect(flagOf('logLevel')).toBe('--log-level')
    expect(variableOf('databaseUrl')).toBe('PURSER_DATABASE_URL')
  })

  test('DATABASE_URL is understood, PURSER_DATABASE_URL wins over it', () => {
    const plain = 'postgres://a/plain'
    expect(load({}, { DATABASE_URL: plain }).databaseUrl).toBe(plain)
    const own = 'postgres://a/own'
    expect(load({}, { DATABASE_URL: plain, PURSER_DATABASE_URL: own }).databaseUrl).toBe(own)
  })

  test.each([
    ['adminUrl', 'http://a.example', 'an https URL'],
    ['databaseUrl', 'mysql://a/b', 'a postgres URL'],
    ['forkUrl', 'wss://a.example', 'an http or https URL'],
    ['chains', [{ ...chain, rpcUrls: ['localhost:8545'] }], 'an http, https, ws or wss URL'],
  ])('the refusal of a URL of another kind in %s says which kind it needs', (name, value, kind) => {
    expect(() => load({}, {}, { [name]: value })).toThrow(`must be ${kind}`)
  })

  test('chains are given as JSON text or as part of the file', () => {
    const text = JSON.stringify([chain])
    const fromEnvironment = load({}, { PURSER_CHAINS: text })
    const fromFile = load({}, {}, { chains: [chain] })
    expect(fromEnvironment.chains).toEqual(fromFile.chains)
    expect(fromFile.chains[0]).toMatchObject({
      chainId: 10,
      facts: { maxBundleGas: 16_777_216 },
    })
  })

  test.each([
    [{ port: 'x' }, {}, {}, '--port'],
    [{ port: '70000' }, {}, {}, '--port'],
    [{}, { PURSER_PORT: '-1' }, {}, 'PURSER_PORT'],
    [{}, {}, { port: 'x' }, '"port" in the configuration file'],
    // As 0 it would let everything through.
    [{}, {}, { ipRate: null }, '"ipRate" in the configuration file'],
    [{ keyRate: '' }, {}, {}, '--key-rate'],
    [{}, {}, { keyRate: false }, '"keyRate" in the configuration file'],
    [{}, {}, { prot: 1 }, 'Unknown setting "prot"'],
    [{}, {}, 'not json', 'is not valid JSON: unexpected "o" in line 1, column 2'],
    [{}, {}, [], 'must be one JSON object'],
    [{}, { PURSER_CHAINS: '[' }, {}, 'PURSER_CHAINS: must be JSON'],
    [{}, {}, { chains: [{ chainId: 1 }] }, '(0.rpcUrls)'],
    [{}, {}, { chains: [{ ...chain, colour: 'red' }] }, 'colour'],
    [{}, {}, { chains: [{ ...chain, executorKeys: ['0x12'] }] }, '0.executorKeys.0'],
    [{ embeddedChain: 'maybe' }, {}, {}, '--embedded-chain'],
  ])(
    'a wrong setting ends with a sentence that names it (%#)',
    (flags, environment, file, text) => {
      const attempt = () => load(flags, environment as Record<string, string>, file)
      expect(attempt).toThrow(ConfigError)
      expect(attempt).toThrow(text)
    },
  )

  test('a named file that is missing is an error, a default one is not needed', () => {
    expect(() => loadConfig({ flags: {}, environment: {}, file: join(folder, 'none') })).toThrow(
      'cannot be read',
    )
  })
})

describe('resolveChains', () => {
  const chains = (...list: unknown[]) => load({}, {}, { chains: list }).chains
  const both = ['api', 'bundler'] as const

  test('looks executor keys up in the environment', () => {
    const [first] = resolveChains(
      chains({ ...chain, executorKeys: ['env:EXECUTOR'] }),
      {
        EXECUTOR: KEY,
      },
      both,
    )
    expect(first?.executorKeys).toEqual([KEY])
  })

  test('names the variable of a missing key and never shows a wrong one', () => {
    const configured = chains({ ...chain, executorKeys: ['env:EXECUTOR'] })
    expect(() => resolveChains(configured, {}, both)).toThrow('EXECUTOR')
    expect(() => resolveChains(configured, { EXECUTOR: '0xsecret' }, both)).toThrow('EXECUTOR')
  })

  test('a chain named twice is refused', () => {
    expect(() => resolveChains(chains(chain, chain), {}, both)).toThrow(
      'Chain 10 is configured twice',
    )
  })

  test('a process that only serves needs no key of an executor, and looks none up', () => {
    const { executorKeys, ...keyless } = chain
    expect(executorKeys).toHaveLength(1)
    const treasury = { key: 'env:TREASURY', refillBelow: '1', refillTo: '2' }
    const secret = { ...chain, chainId: 11, executorKeys: ['env:EXECUTOR'], treasury }
    const resolved = resolveChains(chains(keyless, secret), {}, ['api'])
    expect(resolved.map(({ executorKeys, treasury }) => [executorKeys, treasury])).toEqual([
      [[], undefined],
      [[], undefined],
    ])
  })

  test('a process that bundles is refused without them, in one sentence', () => {
    const { executorKeys, ...keyless } = chain
    for (const roles of [['bundler'], both] as const)
      expect(() => resolveChains(chains({ ...chain, chainId: 11 }, keyless), {}, roles)).toThrow(
        'Chain 10 has no executorKeys, which a process that bundles needs: add some, or start it with --role api.',
      )
    expect(executorKeys).toHaveLength(1)
  })
})
