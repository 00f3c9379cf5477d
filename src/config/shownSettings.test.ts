import { describe, expect, test } from 'vitest'
import { loadConfig } from './loadConfig.js'
import { type OptionName, options } from './options.js'
import { shownSettings } from './shownSettings.js'

const hidden = `0x${'5e'.repeat(32)}`

function shown(flags: Record<string, unknown>, environment: Record<string, string> = {}) {
  const settings = shownSettings(loadConfig({ flags, environment, file: undefined }))
  return Object.fromEntries(settings.map((each) => [each.name, each]))
}

describe('shownSettings', () => {
  test('has every setting, with its source', () => {
    const settings = shown({ port: '1' }, { PURSER_IP_RATE: '7' })
    expect(Object.keys(settings)).toEqual(Object.keys(options))
    expect(settings.port).toMatchObject({ source: 'flag', value: 1, flag: '--port' })
    expect(settings.ipRate).toMatchObject({ source: 'environment', variable: 'PURSER_IP_RATE' })
    expect(settings.keyRate).toMatchObject({ source: 'default', value: 10_000 })
    expect(settings.databaseUrl).toMatchObject({ source: 'default', value: null, isSecret: true })
  })

  test('never has a secret, wherever it stands', () => {
    const secret = 'hush-hush-hush-hush-hush-hush-hush'
    const chain = {
      chainId: 10,
      rpcUrls: [
        `https://user:${secret}@node.example/v2/${secret}?key=${secret}`,
        `wss://heads.example/ws/${secret}`,
      ],
      executorKeys: [
        hidden,
        'env:EXECUTOR',
        { kms: { keyId: 'k', region: 'r', endpoint: `https://kms.example/${secret}` } },
      ],
      treasury: { key: hidden, refillBelow: '1', refillTo: '2' },
      sending: {
        way: 'private',
        url: `https://relay.example/${secret}`,
        authKey: hidden,
        publicAfter: 5,
      },
      tokens: [
        {
          address: `0x${'ab'.repeat(20)}`,
          symbol: 'USDC',
          decimals: 6,
          sources: [{ http: { url: `https://price.example/?key=${secret}`, path: 'a.b' } }],
        },
      ],
    }
    const secrets = (Object.keys(options) as OptionName[]).filter(
      (name) => 'isSecret' in options[name],
    )
    const values: Record<string, unknown> = Object.fromEntries(
      secrets.map((name) => [name, name === 'databaseUrl' ? `postgres://a:${secret}@b/c` : secret]),
    )
    const settings = shown({
      ...values,
      chains: [chain],
      rpcUrl: `https://dev.example/${secret}`,
      forkUrl: `https://fork.example/${secret}`,
      publicUrl: `https://user:${secret}@purser.example/below?q=${secret}`,
    })
    const text = JSON.stringify(settings)
    expect(text).not.toContain(secret)
    expect(text).not.toContain(hidden.slice(2))
    for (const name of secrets)
      expect(settings[name]).toMatchObject({ source: 'flag', value: null })
    expect(settings.publicUrl?.value).toBe('https://purser.example/below')
    expect(settings.rpcUrl?.value).toBe('dev.example')
    expect(settings.chains?.value).toMatchObject([
      {
        rpcUrls: ['node.example', 'heads.example'],
        executorKeys: ['a key, not shown', 'env:EXECUTOR', { kms: { endpoint: 'kms.example' } }],
        treasury: { refillBelow: '1000000000000000000' },
      },
    ])
  })
})
