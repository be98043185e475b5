import { describe, expect, test } from 'vitest'
import { problemsOf, read as readAll } from './testing/reading.ts'

const read = (environment: Readonly<Record<string, string>>, text = '') => readAll({ environment, text })

describe("OpenTelemetry's variables", () => {
  test('fill keys that are not set, the one for traces first', () => {
    const { config, origins } = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces/v1/traces/',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20eDp5, x-key = 1=2 ,',
      OTEL_SERVICE_NAME: 'mine',
    })
    expect(config.traces).toMatchObject({
      endpoint: 'http://traces/v1/traces',
      headers: { authorization: 'Basic eDp5', 'x-key': '1=2' },
      service_name: 'mine',
    })
    expect(origins.get('traces.endpoint')).toBe('environment OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
    expect(origins.get('traces.headers.x-key')).toBe('environment OTEL_EXPORTER_OTLP_HEADERS')
    expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all' }).config.traces.endpoint).toBe(
      'http://all',
    )
  })

  test('give way to the file, key by key', () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all', OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=2', OTEL_SERVICE_NAME: 'mine' }
    const { config, origins } = read(environment, 'traces:\n  headers:\n    c: d\n  endpoint: http://file\n')
    expect(config.traces).toMatchObject({ endpoint: 'http://file', headers: { c: 'd' }, service_name: 'mine' })
    expect([...origins].filter(([key]) => key.startsWith('traces.headers'))).toEqual([['traces.headers.c', 'file:3']])
  })

  test('switch traces off over everything, and are not read any further then', () => {
    const environment = { OTEL_SDK_DISABLED: 'True', OTEL_EXPORTER_OTLP_HEADERS: 'nonsense', OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4317' }
    const { config, origins } = read(environment, 'traces: {endpoint: "http://file"}')
    expect([config.traces.endpoint, origins.get('traces.endpoint')]).toEqual([null, 'environment OTEL_SDK_DISABLED'])
    expect(read({ OTEL_SDK_DISABLED: 'false' }, 'traces: {endpoint: "http://file"}').config.traces.endpoint).toBe('http://file')
  })

  test.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' },
      'environment OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint must start with http:// or https://',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a=1,secret' },
      'environment OTEL_EXPORTER_OTLP_HEADERS: must be name=value pairs separated by commas, values percent-encoded',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
      'environment OTEL_EXPORTER_OTLP_HEADERS: must be name=value pairs separated by commas, values percent-encoded',
    ],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=%0asecret' }, 'environment OTEL_EXPORTER_OTLP_HEADERS: traces.headers.a must be printable ASCII'],
  ])('are refused by their name where they are wrong: %j', (environment, problem) => {
    expect(problemsOf({ environment })).toEqual([problem])
  })
})
