/** The address and token of the running service: from the options, else the configuration, else the defaults. */
import { ConfigProblem, loadConfig, localUrl, servedUrl, type LoadedConfig } from '../../config/index.ts'
import { ENV } from '../../contract/index.ts'
import type { ConfigOptions, Surroundings } from '../surroundings.ts'

export interface RemoteOptions extends ConfigOptions {
  readonly url?: string
  readonly scenario?: string
}

export interface RemoteAddress {
  readonly url: string
  readonly token: string | null
}

const URL_VARIABLE = 'SVC_URL'

export async function serviceAddress(options: RemoteOptions, { environment }: Surroundings): Promise<RemoteAddress> {
  const named = options.url ?? textOf(environment[URL_VARIABLE])
  const { config } = await remoteConfig(options, environment)
  const token = textOf(environment[ENV.token]) ?? config.svc.token ?? config.svc.tokens[0] ?? null
  return { url: named ?? configuredUrl(config), token }
}

/** An empty variable counts as unset. */
const textOf = (text: string | undefined): string | undefined => (text === '' ? undefined : text)

/**
 * The configuration as far as it says where the service listens. The model is the service's business: resolving it here would fail on
 * variables that this shell lacks.
 */
export async function remoteConfig(options: RemoteOptions, environment: Surroundings['environment']): Promise<LoadedConfig> {
  const { given, problems } = options.commandLine
  const isConfigured = options.config !== undefined || given.length > 0 || problems.length > 0
  const others = given.filter(({ path }) => path.join('.') !== 'inference.runtime')
  const commandLine = {
    given: [...others, { path: ['inference', 'runtime'], value: 'practice', origin: 'command line' as const }],
    problems,
  }
  const file = options.config === undefined ? {} : { file: options.config }
  return loadConfig({ ...file, commandLine, environment: isConfigured ? environment : {} })
}

/** A certificate is for a name, which `svc.served_url` has: under the address of loopback it would not verify. */
function configuredUrl(config: LoadedConfig['config']): string {
  const { port, tls } = config.svc
  if (tls !== null) return servedUrl(config, port)
  if (port === 0) throw new ConfigProblem(['svc.port is 0, so the service chose its port; give --url with the address it printed'])
  return localUrl(config.svc, port)
}
