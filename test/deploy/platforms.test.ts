import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { version } from '../../src/base/version.js'
import { type OptionName, options, variableOf } from '../../src/config/options.js'

/*
 * The templates for platforms. PURSER_SCHEMAS names a folder with the schemas that their makers publish (compose-spec.json of
 * compose-spec, render.yaml.json of Render, railway.schema.json of Railway, fly.json of SchemaStore); a file that is there is
 * compared with it.
 */
const IMAGE = `ghcr.io/OWNER/purser:${version}`
const hasPython = spawnSync('python3', ['-c', 'import tomllib']).status === 0

function tomlOf(path: string): unknown {
  const script =
    'import json, sys, tomllib; print(json.dumps(tomllib.load(open(sys.argv[1], "rb"))))'
  return JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' }))
}

const yamlOf = (path: string): unknown => parse(readFileSync(path, 'utf8'))

const templates = [
  { path: 'deploy/compose/compose.yaml', schema: 'compose-spec.json', read: yamlOf },
  { path: 'deploy/coolify/compose.yaml', schema: 'compose-spec.json', read: yamlOf },
  { path: 'deploy/render/render.yaml', schema: 'render.yaml.json', read: yamlOf },
  { path: 'deploy/railway/railway.json', schema: 'railway.schema.json', read: yamlOf },
  { path: 'deploy/fly/fly.toml', schema: 'fly.json', read: tomlOf },
] as const

describe.each(templates)('$path', ({ path, schema, read }) => {
  const file = join(process.env.PURSER_SCHEMAS ?? '', schema)
  const isReadable = read === yamlOf || hasPython

  test.skipIf(process.env.PURSER_SCHEMAS === undefined || !existsSync(file) || !isReadable)(
    'fits the schema of its maker (skipped without PURSER_SCHEMAS)',
    () => {
      const { $schema: _, ...text } = JSON.parse(readFileSync(file, 'utf8'))
      const check = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(
        text,
      )
      check(read(path))
      expect(check.errors ?? []).toEqual([])
    },
  )
})

test('every template names the image of this version', () => {
  for (const path of [
    'render/render.yaml',
    'railway/Dockerfile',
    'fly/fly.toml',
    'coolify/compose.yaml',
  ]) {
    const images = readFileSync(join('deploy', path), 'utf8').match(/ghcr\.io\/\S+?(?=["\s]|$)/gm)
    expect(images, path).toEqual([IMAGE])
  }
})

/** Variables that are no options: of the platform, of a chain's executor. */
const others = ['PORT', 'EXECUTOR', 'SERVICE_URL_PURSER_4337']
const known = [...(Object.keys(options) as OptionName[]).map(variableOf), ...others]

test('Purser is configured by variables that exist', () => {
  const render = yamlOf('deploy/render/render.yaml') as {
    services: { healthCheckPath: string; envVars: { key: string }[] }[]
  }
  const coolify = yamlOf('deploy/coolify/compose.yaml') as {
    services: { purser: { environment: string[] } }
  }
  const ofRender = render.services[0]?.envVars.map(({ key }) => key) ?? []
  const ofCoolify = coolify.services.purser.environment.map((entry) => entry.split('=')[0] ?? '')
  const ofFly = readFileSync('deploy/fly/fly.toml', 'utf8').match(/^ {2}PURSER_\w+/gm) ?? []
  expect(ofFly).not.toEqual([])
  const given = [...ofRender, ...ofCoolify, ...ofFly.map((name) => name.trim())]
  expect(given.filter((name) => !known.includes(name))).toEqual([])
  // Each must store the master key outside of the database.
  for (const names of [ofRender, ofCoolify]) expect(names).toContain(variableOf('masterKey'))
})

test('every template asks whether the service is ready', () => {
  for (const path of ['render/render.yaml', 'railway/railway.json', 'fly/fly.toml'])
    expect(readFileSync(join('deploy', path), 'utf8')).toMatch(/"?\/health\/ready"?/)
})
