import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { chartSchema } from '../../scripts/deploy/chartSchema.js'
import { schemaVersion, version } from '../../src/base/version.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { blocksOf } from '../docs/pages.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  runCli,
  startService,
} from '../support/service/startPurser.js'

/*
 * The chart as helm renders it is in rendered.yaml, so that machines without helm run what it says: its commands,
 * variables, mounted files and probes against the service. `PURSER_HELM=<path>` (or helm on the PATH) compares
 * the file with the chart; with PURSER_WRITE_DOCS it is written.
 */
const CHART = 'deploy/helm/purser'
const SCHEMA = `${CHART}/values.schema.json`
const RENDERED = 'test/deploy/rendered.yaml'
const VALUES = 'test/deploy/values.yaml'
const CHAIN_ID = 31_337
const TOKEN = 'operator-token-of-the-chart-0123456789'
/** A helm without a cluster assumes some version. */
const kubernetes = ['--kube-version', '1.31.0']
const writes = process.env.PURSER_WRITE_DOCS !== undefined

function valuesOf(path: string): Record<string, Record<string, unknown>> {
  return parse(readFileSync(path, 'utf8'))
}

test('values.schema.json is made from the options', () => {
  if (writes) writeFileSync(SCHEMA, chartSchema())
  expect(readFileSync(SCHEMA, 'utf8'), 'PURSER_WRITE_DOCS=1 npx vitest run test/deploy').toBe(
    chartSchema(),
  )
})

test('the schema takes the values of the chart and refuses what Purser would refuse', () => {
  const check = new Ajv({ strict: false, validateFormats: false }).compile(
    JSON.parse(chartSchema()),
  )
  const values = valuesOf(`${CHART}/values.yaml`)
  const problems = (config: unknown) => {
    check({ ...values, config })
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  const { config: sample } = valuesOf(VALUES)
  expect(problems(values.config)).toEqual([])
  expect(problems(sample)).toEqual([])
  expect(problems({ drainSecond: 5 })).toEqual(['/config must NOT have additional properties'])
  expect(problems({ databaseUrl: 'postgres://secret' })).toHaveLength(1)
  expect(problems({ chains: [{ chainId: 10, rpcUrls: [] }] })[0]).toMatch(
    '/config/chains/0/rpcUrls',
  )
})

test('the values that the guide prints pass the schema', () => {
  const [block] = blocksOf('docs/operate/install.md').filter(({ text }) =>
    text.includes('image: {'),
  )
  const printed = parse(block?.text ?? '') as Record<string, unknown>
  const check = new Ajv({ strict: false, validateFormats: false }).compile(
    JSON.parse(chartSchema()),
  )
  check({ ...valuesOf(`${CHART}/values.yaml`), ...printed })
  expect(check.errors ?? []).toEqual([])
  expect(printed.config).toMatchObject({ chains: [{ preset: 'base' }] })
})

test('chart and package have one version', () => {
  expect(parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8'))).toMatchObject({
    version,
    appVersion: version,
  })
})

/** helm, where there is one. */
function findHelm(): string | undefined {
  const helm = process.env.PURSER_HELM ?? 'helm'
  try {
    execFileSync(helm, ['version', '--short'], { stdio: 'ignore' })
    return helm
  } catch {
    return undefined
  }
}

const helm = findHelm()

describe.skipIf(helm === undefined)('helm (skipped where it is not installed)', () => {
  const run = (...args: string[]) =>
    execFileSync(helm ?? '', args, { encoding: 'utf8', stdio: 'pipe' })

  test('finds nothing to complain about and renders what the other tests run', () => {
    expect(run('lint', '--strict', CHART, '--values', VALUES)).toContain('0 chart(s) failed')
    const text = run(
      'template',
      'shop',
      CHART,
      ...kubernetes,
      '--namespace',
      'pay',
      '--values',
      VALUES,
    )
    if (writes) writeFileSync(RENDERED, text)
    expect(readFileSync(RENDERED, 'utf8')).toBe(text)
  })

  test('hands the alerts of deploy/prometheus on, to the letter', () => {
    const set = ['--set', 'prometheusRule.enabled=true']
    const text = run('template', 'shop', CHART, ...kubernetes, ...set)
    const [rule] = objectsOf(text).filter(({ kind }) => kind === 'PrometheusRule')
    expect(rule?.spec).toEqual(parse(readFileSync('deploy/prometheus/purser.rules.yml', 'utf8')))
  })

  test('refuses values that the schema refuses, and renders one set of pods with both roles', () => {
    expect(() =>
      run('template', 'shop', CHART, ...kubernetes, '--set', 'config.drainSecond=5'),
    ).toThrow(/drainSecond/)
    const { workloads } = valuesOf(`${CHART}/values.yaml`)
    const all = JSON.stringify({ ...(workloads?.api as object), roles: ['api', 'bundler'] })
    const sets = ['--set', 'workloads.api=null,workloads.bundler=null']
    const text = run(
      'template',
      'shop',
      CHART,
      ...kubernetes,
      ...sets,
      '--set-json',
      `workloads.all=${all}`,
    )
    const deployments = objectsOf(text).filter(({ kind }) => kind === 'Deployment')
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(['shop-all'])
    expect(environmentOf(containerOf(deployments[0])).PURSER_ROLE).toBe('api,bundler')
  })
})

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } }
type Container = {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly ports: readonly { readonly name: string }[]
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
  readonly securityContext: Record<string, unknown>
}
type Pod = {
  readonly containers: readonly [Container]
  readonly securityContext: Record<string, unknown>
  readonly terminationGracePeriodSeconds: number
}
type Rendered = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> }
  readonly data?: Record<string, string>
  readonly spec: Record<string, unknown> & {
    readonly selector: Record<string, unknown>
    readonly template: { readonly metadata: Rendered['metadata']; readonly spec: Pod }
  }
}

function objectsOf(text: string): Rendered[] {
  return parseAllDocuments(text).flatMap((document) => (document.toJSON() as Rendered | null) ?? [])
}

const objects = objectsOf(readFileSync(RENDERED, 'utf8'))
const podObjects = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')

function find(kind: string, name: string): Rendered {
  const object = objects.find((each) => each.kind === kind && each.metadata.name === name)
  if (object === undefined) throw new Error(`No ${kind} ${name}`)
  return object
}

function containerOf(object: Rendered | undefined): Container {
  if (object === undefined) throw new Error('nothing was rendered')
  return object.spec.template.spec.containers[0]
}

function environmentOf({ env }: Container): Record<string, string> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]))
}

describe('the rendered chart', () => {
  test('lets no pod run as root, gain rights or write to its files', () => {
    expect(podObjects.map(({ metadata }) => metadata.name).sort()).toEqual([
      'shop-api',
      'shop-bundler',
      'shop-migrate',
    ])
    for (const { spec } of podObjects) {
      expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true })
      expect(spec.template.spec.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  test('has services, budgets and policies that select its pods', () => {
    const labels = podObjects.map(({ spec }) => spec.template.metadata.labels)
    const selectors = objects.flatMap(({ kind, metadata, spec }) => {
      if (kind === 'Service') return [{ name: metadata.name, wanted: spec.selector }]
      const { matchLabels } = (spec?.selector ?? spec?.podSelector ?? {}) as Record<string, object>
      return kind === 'ServiceMonitor' || matchLabels === undefined
        ? []
        : [{ name: `${kind} ${metadata.name}`, wanted: matchLabels }]
    })
    expect(selectors.length).toBeGreaterThanOrEqual(8)
    for (const { name, wanted } of selectors)
      expect(labels.filter((each) => isSubset(wanted, each)).length, name).toBeGreaterThan(0)
    const monitored = find('ServiceMonitor', 'shop').spec.selector.matchLabels
    expect(isSubset(monitored as object, find('Service', 'shop-metrics').metadata.labels)).toBe(
      true,
    )
  })
})

function isSubset(wanted: object, labels: Record<string, string>): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value)
}

describe('the containers of the chart against the service', () => {
  const database = useDatabase()
  let chain: PublicChain
  let folder = ''
  const services = new Map<string, RunningService>()

  /** What a pod finds under the path of a mount, here in `folder`. */
  const here = (text: string) => text.replaceAll('/etc/purser', folder)

  /** The container's own arguments and variables, on free ports of this machine. */
  function environmentHere(container: Container): Record<string, string> {
    const own = environmentOf(container)
    const here_ = Object.fromEntries(
      Object.entries(own).map(([name, value]) => [name, here(value)]),
    )
    if (own.PURSER_PORT === undefined) return here_
    expect(own.PURSER_ADMIN_LISTEN).toBe('0.0.0.0:4338')
    const listen = {
      PURSER_HOST: '127.0.0.1',
      PURSER_PORT: '0',
      PURSER_ADMIN_LISTEN: '127.0.0.1:0',
    }
    return { ...here_, ...listen, PURSER_DATA: join(folder, 'data') }
  }

  beforeAll(async () => {
    folder = makeDataFolder()
    chain = await startPublicChain(CHAIN_ID)
    const config = find('ConfigMap', 'shop').data?.['purser.json'] ?? ''
    const files = {
      'config/purser.json': config.replace('http://node.example:8545', chain.rpcUrl),
      'secrets/database_url': databaseUrlOf(database()),
      'secrets/master_key': '5e'.repeat(32),
      'secrets/operator_token': TOKEN,
    }
    for (const name of ['config', 'secrets']) mkdirSync(join(folder, name))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const job = containerOf(find('Job', 'shop-migrate'))
    const migrated = await runCli(job.args, environmentHere(job))
    expect(migrated.stdout, migrated.stderr).toMatch(
      /^The schema of the database \(.+\) is \d+, as this version needs\.\n$/,
    )
    for (const name of ['api', 'bundler']) {
      const container = containerOf(find('Deployment', `shop-${name}`))
      const given = container.envFrom?.map(({ secretRef }) => secretRef.name)
      expect(given).toEqual(name === 'bundler' ? ['purser-variables'] : undefined)
      const secrets = given === undefined ? {} : { EXECUTOR: devKey(1) }
      const environment = { ...environmentHere(container), ...secrets }
      services.set(name, await startService(container.args.map(here), environment))
    }
  })

  afterAll(async () => {
    for (const service of services.values()) await service.end('SIGTERM')
    await chain?.stop()
    removeDataFolder(folder)
  })

  /** By name of its port, where a pod's container answers. */
  function urlsOf(name: string): Record<string, string> {
    const output = services.get(name)?.output() ?? ''
    const [, admin = ''] = /Administration is at (\S+)/.exec(output) ?? []
    const [, http = ''] = /Purser is ready at (\S+)/.exec(output) ?? []
    return { http, admin }
  }

  test.each(['api', 'bundler'])('every probe of %s succeeds', async (name) => {
    const container = containerOf(find('Deployment', `shop-${name}`))
    const { startupProbe, livenessProbe, readinessProbe } = container
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(container.ports.map((port) => port.name)).toContain(httpGet.port)
      const answer = await fetch(`${urlsOf(name)[httpGet.port]}${httpGet.path}`)
      expect(answer.status, `${httpGet.path}: ${await answer.text()}`).toBe(200)
    }
  })

  test.each(['api', 'bundler'])(
    'Prometheus reads the metrics of %s as the ServiceMonitor says',
    async (name) => {
      const [endpoint] = find('ServiceMonitor', 'shop').spec.endpoints as [
        { port: string; path: string; authorization: { credentials: { key: string } } },
      ]
      const token = readFileSync(join(folder, 'secrets', endpoint.authorization.credentials.key))
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(`${urlsOf(name)[endpoint.port]}${endpoint.path}`, { headers })
      expect(await answer.text()).toContain(
        `purser_build_info{version="${version}",schema="${schemaVersion}"} 1`,
      )
      expect((await fetch(`${urlsOf(name).http}/metrics`)).status).toBe(404)
    },
  )

  test('the pods stop well before they would be killed', async () => {
    for (const [name, service] of services) {
      const { terminationGracePeriodSeconds } = find('Deployment', `shop-${name}`).spec.template
        .spec
      const begin = Date.now()
      expect(await service.end('SIGTERM')).toEqual({ code: 0 })
      expect(Date.now() - begin).toBeLessThan(terminationGracePeriodSeconds * 1000)
    }
    services.clear()
  })
})
