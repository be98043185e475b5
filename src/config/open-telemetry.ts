/** OpenTelemetry's own variables. They fill keys that are not set; OTEL_SDK_DISABLED overrides every key. */
import type { CommandLineReading } from './command-line.ts'
import type { Environment } from './interpolate.ts'
import type { GivenValue } from './problem.ts'

const DISABLED = 'OTEL_SDK_DISABLED'
const HEADERS = ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS']
const KEYS: readonly { readonly key: string; readonly variables: readonly string[] }[] = [
  { key: 'endpoint', variables: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] },
  { key: 'service_name', variables: ['OTEL_SERVICE_NAME'] },
]

type Reading = Pick<CommandLineReading, 'given' | 'problems'>

/** With traces disabled, the other variables are ignored: they may be meant for another program. */
export function fromOpenTelemetry(environment: Environment, explicit: readonly GivenValue[]): Reading {
  if (environment[DISABLED]?.trim().toLowerCase() === 'true')
    return { given: [{ path: ['traces', 'endpoint'], value: null, origin: `environment ${DISABLED}` }], problems: [] }
  const isSet = (name: string): boolean => explicit.some(({ path }) => path[0] === 'traces' && path[1] === name)
  const given = KEYS.filter(({ key }) => !isSet(key)).flatMap(({ key, variables }): GivenValue[] => {
    const variable = firstSet(environment, variables)
    return variable === undefined ? [] : [{ path: ['traces', key], value: environment[variable], origin: `environment ${variable}` }]
  })
  const headers = isSet('headers') ? { given: [], problems: [] } : headersFrom(environment)
  return { given: [...given, ...headers.given], problems: headers.problems }
}

/** Empty variables count as unset. */
function firstSet(environment: Environment, variables: readonly string[]): string | undefined {
  return variables.find((variable) => (environment[variable] ?? '') !== '')
}

/** `name=value,name=value`, values percent-encoded where needed. */
function headersFrom(environment: Environment): Reading {
  const variable = firstSet(environment, HEADERS)
  if (variable === undefined) return { given: [], problems: [] }
  const pairs = (environment[variable] ?? '').split(',').filter((pair) => pair.trim() !== '')
  const given = pairs.flatMap((pair): GivenValue[] => {
    const [, name, value] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? []
    const decoded = value === undefined ? null : decode(value.trim())
    return name === undefined || decoded === null
      ? []
      : [{ path: ['traces', 'headers', name], value: decoded, origin: `environment ${variable}` }]
  })
  if (given.length === pairs.length) return { given, problems: [] }
  return { given: [], problems: [`environment ${variable}: must be name=value pairs separated by commas, values percent-encoded`] }
}

function decode(value: string): string | null {
  try {
    return decodeURIComponent(value)
  } catch {
    return null
  }
}
