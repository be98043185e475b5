/** `svc serve`: starts the service, prints where it is, and stops it on a signal. */
import { startAhead } from '../../plugins/index.ts'
import { localUrl, type LoadedConfig } from '../config/index.ts'
import { ENV, isRefusal } from '../contract/index.ts'
import { collectOnceIdle, withoutSecrets } from '../kit/index.ts'
import { banner } from './banner.ts'
import { loadFor, printLoaded } from './config.ts'
import { printError } from './explain.ts'
import { EXIT, wantsColours, type ConfigOptions, type ServiceModule, type StopSignal, type Surroundings } from './surroundings.ts'
import type { RunningService } from '../main.ts'
import { calmLog, demoState, welcome, withPractice } from './welcome/index.ts'

export interface ServeCommandOptions extends ConfigOptions {
  readonly printConfig?: boolean
  /** Runs the demo scenario on first use, while the mock model answers. */
  readonly welcome?: boolean
}

/** A terminal signals the whole process group and npm passes the signal on, so signals within this time count as one. */
const SAME_SIGNAL_MILLISECONDS = 300
const CRASHED_EXIT = 1
const SIGNAL_EXIT: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

export async function serve(options: ServeCommandOptions, surroundings: Surroundings): Promise<number> {
  const toServe = await load(options, surroundings)
  const { loaded, hasDemo } = toServe
  if (options.printConfig === true) return printLoaded(loaded, options, surroundings)
  for (const words of shownSecrets(options)) surroundings.err(`warning: ${words}`)
  const stop = stopSignal(surroundings)
  // A rejected promise of a plug-in must not end the service.
  const logRejection = (reason: unknown): void => surroundings.err(`an unhandled promise rejection: ${firstLine(reason)}`)
  process.on('unhandledRejection', logRejection)
  process.on('uncaughtException', crash)
  try {
    const starting = start(toServe, options, surroundings)
    // What changed while the service starts is taken over once it has started.
    const reload = async (): Promise<void> => {
      const started = await starting
      if (typeof started !== 'number') await started.reload(async () => (await load(options, surroundings)).loaded)
    }
    surroundings.onReload(() => void reload())
    const service = await starting
    if (typeof service === 'number') return service
    const url = reachedAt(loaded, service)
    const leaving = new AbortController()
    void stop.then(() => leaving.abort())
    void collectOnceIdle(leaving.signal)
    const demo = hasDemo ? await demoState(loaded, url, leaving.signal) : 'none'
    surroundings.out(banner(loaded, url, service.key, { demo, colours: surroundings.colours }))
    const welcoming = demo === 'ahead' ? welcome(loaded, url, leaving.signal, surroundings) : null
    await stop
    await welcoming
    return await finish(service, surroundings)
  } finally {
    process.off('unhandledRejection', logRejection)
    process.off('uncaughtException', crash)
  }
}

/** Other users of the machine see the arguments of every process. */
function shownSecrets({ commandLine }: Pick<ConfigOptions, 'commandLine'>): readonly string[] {
  const given = (commandLine?.given ?? []).map(({ path }) => path.join('.')).filter((key) => key === 'svc.token' || key === 'svc.tokens')
  return given.map((key) => {
    const fix = key === 'svc.token' ? `set ${ENV.token}, or ${key} in the file` : 'set it in the file'
    return `--${key} stands in the list of processes, where everybody on this machine can read it; ${fix}`
  })
}

interface LoadedService {
  readonly loaded: LoadedConfig
  readonly hasDemo: boolean
}

async function load(options: ServeCommandOptions, surroundings: Surroundings): Promise<LoadedService> {
  const plain = await loadFor(options, surroundings)
  const withDemo = options.welcome === true ? await withPractice(plain, options, surroundings.environment) : null
  return { loaded: withDemo ?? plain, hasDemo: withDemo !== null }
}

/** Node would print the error as it is, and it may quote a secret. */
function crash(error: unknown): void {
  process.stderr.write(`${withoutSecrets(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`)
  process.exit(CRASHED_EXIT)
}

function firstLine(reason: unknown): string {
  const text = reason instanceof Error ? (reason.stack ?? reason.message) : typeof reason === 'string' ? reason : 'no error'
  return text.split('\n', 2).join(' ')
}

/** The exit code where it does not start. */
async function start({ loaded, hasDemo }: LoadedService, options: ServeCommandOptions, surroundings: Surroundings) {
  // Runs while the service is loaded.
  await startAhead[loaded.config.storage.record_backend]?.()
  const service = await surroundings.service()
  // A line per call would stand between the lines for people. The redirected log of a configured service stays complete.
  const isWelcoming = options.welcome === true && loaded.config.svc.log === 'auto' && (hasDemo || isOnTerminal(surroundings))
  // Records, archives and releases hold private text: only their owner may read them.
  process.umask(0o077)
  try {
    return await service.startService(
      loaded,
      isWelcoming ? { log: calmLog((line) => surroundings.err(line)) } : logOptions(loaded, surroundings),
    )
  } catch (error) {
    printError(error, loaded, surroundings)
    return isPassing(error) ? EXIT.failed : EXIT.misconfigured
  }
}

const isOnTerminal = ({ isTerminal }: Surroundings): boolean => isTerminal && process.stderr.isTTY

/** A database that is away or busy is there again later: starting again helps then. */
const isPassing = (error: unknown): boolean => isRefusal(error) && error.detail.retryAfterSeconds !== undefined

function logOptions({ config }: LoadedConfig, { environment }: Surroundings): Parameters<ServiceModule['startService']>[1] {
  const isTerminal = process.stderr.isTTY
  const { log } = config.svc
  return log === 'lines' || (log === 'auto' && isTerminal) ? { log: { colours: wantsColours(environment, isTerminal) } } : {}
}

/** The address on this machine, with the actual port: the configured one may be 0. */
function reachedAt({ config }: LoadedConfig, { address }: RunningService): string {
  const port = URL.canParse(address) ? Number(new URL(address).port) : 0
  return localUrl(config.svc, port === 0 ? config.svc.port : port)
}

/** Resolves with the first signal; a second one ends the process at once. */
function stopSignal(surroundings: Surroundings): Promise<StopSignal> {
  return new Promise((resolve) => {
    let first = 0
    surroundings.onStop((signal) => {
      const now = performance.now()
      if (first === 0) {
        first = now
        resolve(signal)
      } else if (now - first > SAME_SIGNAL_MILLISECONDS) {
        surroundings.exitNow(SIGNAL_EXIT[signal])
      }
    })
  })
}

async function finish(service: RunningService, surroundings: Surroundings): Promise<number> {
  surroundings.err('stopping: calls in flight may finish; a second signal stops at once')
  try {
    await service.close()
    return EXIT.fine
  } catch (error) {
    surroundings.err('the service did not stop cleanly')
    printError(error, null, surroundings)
    return EXIT.failed
  }
}
