import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../base/errors/configError.js'
import { traceSettings } from './operationTraces.js'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

describe('the variables of OpenTelemetry', () => {
  test('ask for no traces without an endpoint, or where they switch them off', () => {
    expect(traceSettings({})).toBeUndefined()
    expect(traceSettings({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
    expect(traceSettings({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined()
  })

  test('name the receiver of all signals, or that of traces whole', () => {
    expect(traceSettings(endpoint)).toEqual({
      url: 'http://collector:4318/v1/traces',
      headers: {},
      serviceName: 'purser',
      share: 1,
    })
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://other/x' }
    expect(traceSettings({ ...endpoint, ...own })?.url).toBe('https://other/x')
  })

  test('give headers, a name and a share', () => {
    const more = {
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20a=b, tenant=7',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    }
    expect(traceSettings({ ...endpoint, ...more })).toMatchObject({
      headers: { authorization: 'Bearer a=b', tenant: '7' },
      serviceName: 'shop',
      share: 0.25,
    })
  })

  test('are refused where they are wrong', () => {
    for (const wrong of [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'tenant=7,authorization=a%secret' },
      { ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    ])
      expect(() => traceSettings(wrong)).toThrow(/^OTEL_\w+ must be /)
  })

  test('name the header whose value is broken, not the value, which is a secret', () => {
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'tenant=7,Authorization=Bearer%20a%secret' }
    const read = () => traceSettings({ ...endpoint, ...headers })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(/^OTEL_EXPORTER_OTLP_HEADERS .* "authorization"/)
    expect(read).not.toThrow(/a%secret/)
  })
})
