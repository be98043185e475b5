/** Reads the command line, the file and the environment once, and returns one frozen configuration or all problems. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { codeOf, knowSecrets } from '../kit/index.ts'
import { crossProblems } from './checks.ts'
import type { CommandLineReading } from './command-line.ts'
import { readFileText } from './file.ts'
import type { Environment } from './interpolate.ts'
import { kindAt } from './keys.ts'
import { originsOf } from './origins.ts'
import { fromOpenTelemetry } from './open-telemetry.ts'
import { ownPaths } from './own-paths.ts'
import { movedProblems, readPaths, type DataPath, type Folders } from './paths.ts'
import { ConfigProblem, type GivenValue, type ValueOrigin } from './problem.ts'
import { ENVIRONMENT, ONE_UPSTREAM, S3_KEY, type Config, type RecipeSettings, type ConfigValues } from './schema.ts'
import { secretsIn } from './secrets.ts'
import { discoverUpstream, probeOllama, type Probe, type ResolvedUpstream } from './upstream.ts'
import { readSettings } from './settings.ts'
import { readValue } from './values.ts'

/** This machine is never reached through a proxy. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1']

export interface Sources {
  /** The configuration file; without one only defaults, environment and command line count. */
  readonly file?: string
  /** The base of relative paths, where it is not the file's folder: for a generated file. */
  readonly baseDirectory?: string
  readonly commandLine?: Pick<CommandLineReading, 'given' | 'problems'>
  readonly environment: Environment
  readonly probe?: Probe
}

export interface LoadedConfig {
  readonly config: Config
  readonly origins: ReadonlyMap<string, ValueOrigin>
  readonly upstream: ResolvedUpstream
  readonly proxies: ReturnType<typeof proxiesFrom>
  /** The base of relative paths in the file: the file's folder, or the working directory. */
  readonly baseDirectory: string
  /** Every file and folder of the deployment, which no episode may see. */
  readonly ownPaths: readonly string[]
  /** Data of an earlier version in the working directory, each with a fix: the service must not start empty next to it. */
  readonly moved: readonly string[]
}

/** Throws ConfigProblem with all problems. */
export async function loadConfig(sources: Sources): Promise<LoadedConfig> {
  const text = sources.file === undefined ? '' : await readText(sources.file)
  const { config, origins, data } = readConfig({ ...sources, text })
  const file = sources.file ?? null
  const upstream = await discoverUpstream({ config, origins, file }, sources.environment, sources.probe ?? probeOllama)
  const proxies = proxiesFrom(sources.environment)
  const { base } = foldersOf(sources)
  const own = ownPaths(config, { file, base })
  knowSecrets(secretsIn({ config, origins, upstream }, sources.environment))
  return { config, origins, upstream, proxies, baseDirectory: base, ownPaths: own, moved: movedProblems(data, existsSync) }
}

function foldersOf({ file, baseDirectory }: Pick<Sources, 'file' | 'baseDirectory'>): Folders {
  const working = process.cwd()
  return { working, base: baseDirectory ?? (file === undefined ? working : dirname(resolve(file))) }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = codeOf(error) ?? 'unreadable'
    const reason = code === 'ENOENT' ? 'there is no such file' : `the file cannot be read (${code})`
    throw new ConfigProblem([`${file}: ${reason}; name the configuration with -c FILE`])
  }
}

interface Reading extends Pick<LoadedConfig, 'config' | 'origins'> {
  readonly data: readonly DataPath[]
}

/** Needs no disk and no network: the file's text is given. */
export function readConfig(sources: Omit<Sources, 'probe'> & { readonly text: string }): Reading {
  const { environment, file = 'configuration' } = sources
  const fromFile = readFileText(sources.text, file, environment)
  const fromArgs = sources.commandLine ?? { given: [], problems: [] }
  const explicit = [...fromFile.given, ...fromArgs.given]
  const telemetry = fromOpenTelemetry(environment, explicit)
  const given = byKey([...fromEnvironment(environment, explicit), ...explicit, ...telemetry.given])
  const reading = readSettings(given, environment, file)
  const problems = [...fromFile.problems, ...fromArgs.problems, ...telemetry.problems, ...reading.problems, ...crossProblems(reading, file)]
  if (problems.length > 0 || reading.settings === null) throw new ConfigProblem(problems)
  const { settings, data } = readPaths(reading.settings, reading.given, foldersOf(sources))
  const config = deepFreeze(normalise(settings))
  const isKept = config.storage.record_backend !== 'memory'
  return { config, origins: originsOf(config, reading.given), data: isKept ? data : [] }
}

/** Later values win: environment, file, command line. */
function byKey(given: readonly GivenValue[]): ReadonlyMap<string, GivenValue> {
  return new Map(given.map((one) => [one.path.join('.'), one]))
}

/** Empty variables count as unset. A token from the environment counts only when no other token is set; so does a key for a bucket, and an upstream. */
function fromEnvironment(environment: Environment, explicit: readonly GivenValue[]): readonly GivenValue[] {
  const hasToken = explicit.some(
    ({ path, value }) => path[0] === 'svc' && (path[1] === 'token' || (path[1] === 'tokens' && !isEmptyList(value))),
  )
  const hasS3Key = explicit.some(({ path }) => S3_KEY.has(path.join('.')))
  const hasUpstreams = explicit.some(({ path }) => path[0] === 'inference' && path[1] === 'upstreams')
  const isGiven = (key: string): boolean =>
    (key === 'svc.token' && hasToken) || (S3_KEY.has(key) && hasS3Key) || (ONE_UPSTREAM.has(key) && hasUpstreams)
  return Object.entries(ENVIRONMENT).flatMap(([key, variable]) => {
    const text = environment[variable]
    if (text === undefined || text === '' || isGiven(key)) return []
    const path = key.split('.')
    return [{ path, value: readValue(text, kindAt(path)), origin: `environment ${variable}` } satisfies GivenValue]
  })
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** Every recipe under its name, including the default one, whichever way the file is written. */
function normalise(settings: ConfigValues): Config {
  const { svc, inference, limits, storage, recording, traces, webhooks, recipe, data, pipeline, evolution, training } = settings
  const recipes: Record<string, RecipeSettings> = { [recipe]: { use: recipe, data, pipeline, evolution, training } }
  for (const [name, own] of Object.entries(settings.recipes)) recipes[name] = { ...own, use: own.use ?? name }
  return { svc, inference, limits, storage, recording, traces, webhooks, recipe, recipes }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}

/** Null where none is set. Throws ConfigProblem for an invalid one without quoting it, since it may hold a password. */
function proxiesFrom(environment: Environment) {
  const [http, https] = [proxyIn(environment, 'http_proxy'), proxyIn(environment, 'https_proxy')]
  if (http === '' && https === '') return null
  return { http, https: https === '' ? http : https, direct: [valueIn(environment, 'no_proxy'), ...LOOPBACK].join(',') }
}

function proxyIn(environment: Environment, name: string): string {
  const value = valueIn(environment, name)
  if (value === '') return ''
  const url = value.includes('://') ? value : `http://${value}`
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new ConfigProblem([
    `environment ${name.toUpperCase()}: must be the address of a proxy, such as http://proxy:3128; set it, or unset it`,
  ])
}

/** The lower-case variable wins, as with other tools. */
const valueIn = (environment: Environment, name: string): string => (environment[name] || environment[name.toUpperCase()] || '').trim()
