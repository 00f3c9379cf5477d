import { z } from 'zod'
import { isSecret, type OptionName, options } from '../../src/config/options.js'

type Json = Record<string, unknown>

/** The options that the chart gives itself, and those of development. */
const ownOptions: readonly OptionName[] = [
  'data',
  'port',
  'host',
  'role',
  'adminListen',
  'embeddedChain',
  'rpcUrl',
  'forkUrl',
  'debugMethods',
]

/** The options that `config` of the chart may hold. */
export const chartOptions = (Object.keys(options) as OptionName[]).filter(
  (name) => !ownOptions.includes(name) && !isSecret(name),
)

function configSchema(): Json {
  const properties = Object.fromEntries(
    chartOptions.map((name) => {
      const { schema, help } = options[name]
      const json = z.toJSONSchema(schema as z.ZodType, {
        io: 'input',
        target: 'draft-7',
        unrepresentable: 'any',
      })
      delete json.$schema
      // A schema that reads numbers from text loses its default.
      const { data } = (schema as z.ZodType).safeParse(undefined)
      if (typeof data === 'number') json.default = data
      if (name === 'chains') presetKnowsId(json)
      return [name, { ...json, description: help }]
    }),
  )
  return closed(properties, 'The configuration file, see docs/operate/configuration.md')
}

/** A chain that names its preset needs no id: in JSON Schema, one of both is required. */
function presetKnowsId({ items }: Json): void {
  const chain = items as Json
  const required = chain.required as string[]
  chain.required = required.filter((each) => each !== 'chainId')
  chain.anyOf = [{ required: ['chainId'] }, { required: ['preset'] }]
}

function closed(properties: Json, description?: string): Json {
  const base = { type: 'object', properties, additionalProperties: false }
  return description === undefined ? base : { ...base, description }
}

const text = { type: 'string' }
const name = { type: 'string', minLength: 1 }
const flag = { type: 'boolean' }
const count = { type: 'integer', minimum: 0 }
const port = { type: 'integer', minimum: 1024, maximum: 65_535 }
const anything = { type: 'object' }
const texts = { type: 'object', additionalProperties: text }

const workload = {
  ...closed({
    roles: {
      type: 'array',
      items: { enum: ['api', 'bundler'] },
      minItems: 1,
      uniqueItems: true,
    },
    replicas: count,
    autoscaling: closed({
      enabled: flag,
      minReplicas: count,
      maxReplicas: count,
      targetCPUUtilizationPercentage: count,
    }),
    resources: anything,
  }),
  required: ['roles', 'replicas', 'autoscaling', 'resources'],
}

/** `values.schema.json` of the Helm chart. `config` is what Purser itself accepts. */
export function chartSchema(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...closed({
      global: anything,
      image: closed({
        repository: name,
        tag: text,
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      }),
      imagePullSecrets: { type: 'array', items: anything },
      config: configSchema(),
      existingSecret: name,
      executorSecret: name,
      executorVariables: text,
      environment: texts,
      workloads: {
        type: 'object',
        minProperties: 1,
        additionalProperties: { anyOf: [workload, { type: 'null' }] },
      },
      migration: closed({ resources: anything }),
      ports: closed({ http: port, admin: port }),
      service: closed({ type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] } }),
      ingress: closed({
        enabled: flag,
        className: text,
        annotations: texts,
        host: name,
        tlsSecret: name,
      }),
      serviceMonitor: closed({ enabled: flag, interval: name, labels: texts }),
      prometheusRule: closed({ enabled: flag, labels: texts }),
      networkPolicy: closed({ enabled: flag, adminFrom: { type: 'array', items: anything } }),
      podAnnotations: texts,
      nodeSelector: texts,
      tolerations: { type: 'array', items: anything },
    }),
  }
  return `${JSON.stringify(schema, undefined, 2)}\n`
}
