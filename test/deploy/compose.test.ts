import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { isSecret, type OptionName, options, variableOf } from '../../src/config/options.js'

const FOLDER = 'deploy/compose'

type Service = {
  readonly image: string
  readonly secrets: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly [key: string]: unknown
}

const compose = parse(readFileSync(join(FOLDER, 'compose.yaml'), 'utf8')) as {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, unknown>>
}
const services = Object.entries(compose.services)

test('the services mount files that are there and secrets that are declared', () => {
  expect(services.map(([name]) => name)).toEqual(['postgres', 'purser', 'prometheus', 'grafana'])
  for (const [name, { secrets, volumes = [] }] of services) {
    expect(Object.keys(compose.secrets), name).toEqual(expect.arrayContaining([...secrets]))
    // The operator writes purser.json; docs/operate/install.md shows it.
    for (const [source = ''] of volumes.map((volume) => volume.split(':')))
      if (source.startsWith('.') && source !== './purser.json')
        expect(existsSync(join(FOLDER, source)), `${name} ${source}`).toBe(true)
  }
})

test('Purser is configured by variables that exist, each secret by a file', () => {
  const names = Object.keys(options) as OptionName[]
  const known = names.map((name) => `${variableOf(name)}${isSecret(name) ? '_FILE' : ''}`)
  const given = Object.keys(compose.services.purser?.environment ?? {})
  expect(known).toEqual(expect.arrayContaining(given))
  expect(given).toContain('PURSER_DATABASE_URL_FILE')
})

test('no service but the database and Grafana may write, and none of ours may gain rights', () => {
  for (const name of ['purser', 'prometheus'])
    expect(compose.services[name]).toMatchObject({
      read_only: true,
      user: '65532:65532',
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
})
