/** A listener thread, inner side: composed like the service, with views in place of scenarios and a relay for everything else. */
import { parentPort, workerData } from 'node:worker_threads'
import type { LoadedConfig } from '../config/index.ts'
import type { JsonObject, Runtime, Store } from '../contract/index.ts'
import { Bodies, listen, makeTrafficListener, Metrics, screenedLog, type Log, type TrafficServices } from '../http/index.ts'
import { codeOf, knowPassingSecret, knowSecrets, Lane, wordsOf } from '../kit/index.ts'
import type { LimitPlace } from '../limits/index.ts'
import { News } from './news.ts'
import { Relay } from './relay.ts'
import { Views } from './views.ts'
import type { FromListener, ListenerSettings, ToListener } from './wire.ts'

interface ListenerParts {
  readonly runtime: Runtime
  readonly recorder: TrafficServices['recorder']
  readonly configured: Omit<TrafficServices, 'registry' | 'log' | 'metrics' | 'bodies' | 'traces' | 'recorder'>
  readonly traces: (NonNullable<TrafficServices['traces']> & { close(): Promise<void> }) | undefined
  readonly store: Pick<Store, 'scenario' | 'close'>
  /** Gives services what a changed configuration says. */
  readonly reconfigure: (services: ListenerParts['configured'], loaded: LoadedConfig, limits: LimitPlace) => Promise<void>
}

type Compose = (settings: ListenerSettings, log: Log) => Promise<ListenerParts>

const clock = (): number => Date.now() / 1000

/** Says that it listens, or why it cannot, and serves until it is told to close. */
export async function runListener(compose: Compose): Promise<void> {
  const settings: ListenerSettings = workerData
  knowSecrets(settings.secrets)
  const metrics = new Metrics()
  const news = new News(metrics, clock, say)
  const log = screenedLog(news)
  // A rejected promise of a plug-in must not end the thread.
  process.on('unhandledRejection', (reason) => log.write('error', 'failure', { message: wordsOf(reason) }))
  try {
    const parts = await compose(settings, log)
    const { recorder } = parts
    const { auth } = parts.configured
    auth.use(settings.tokens)
    if (parts.traces !== undefined) news.spans = parts.traces.spans
    const views = new Views({
      runtime: parts.runtime,
      admit: (scenario, record) => recorder.admit(scenario, [record]),
      append: async (scenario, records) => (await parts.store.scenario(scenario).append(records)).step,
      ask: (name) => say({ said: 'ask', name }),
    })
    const relay = new Relay(settings.relayPath)
    const bodies = new Bodies(settings.bodies)
    const services = { ...parts.configured, recorder, registry: views, log, metrics, bodies, traces: parts.traces }
    const listener = makeTrafficListener(services, views, (request, response) => relay.pass(request, response))
    const server = await listen(listener, { ...settings.at, reusePort: true }, settings)
    const close = async (): Promise<void> => {
      await server.close()
      await views.idle()
      relay.close()
      await Promise.all([bodies.close(), recorder.close(), parts.runtime.close(), parts.traces?.close()])
      await parts.store.close()
      news.flush()
      say({ said: 'closed' })
    }
    const configure: Told['configure'] = async ({ loaded, tls, secrets, limits }) => {
      knowSecrets(secrets)
      const { slot } = settings.bodies
      await parts.reconfigure(services, loaded, { ...limits, slot })
      // What they say of the model may be that of before.
      views.lapse()
      if (tls !== null) server.useTls(tls)
    }
    const told = { views, news, auth, configure, close, log, lane: new Lane() }
    parentPort?.on('message', (message: ToListener) => hear(message, told))
    say({ said: 'listening' })
  } catch (error) {
    say({ said: 'failed', code: codeOf(error) ?? null, message: wordsOf(error) })
  }
}

const failedHere = (error: unknown): JsonObject => ({
  message: 'a thread that accepts connections goes on with the configuration of before',
  problems: [wordsOf(error)],
})

function say(message: FromListener): void {
  parentPort?.postMessage(message, [])
}

interface Told extends Pick<TrafficServices, 'auth'> {
  readonly views: Views
  readonly news: News
  readonly log: Log
  /** One configuration after the other. */
  readonly lane: Lane
  readonly configure: (told: Extract<ToListener, { readonly tell: 'configuration' }>) => Promise<void>
  readonly close: () => Promise<void>
}

function hear(message: ToListener, { views, news, auth, configure, close, log, lane }: Told): void {
  switch (message.tell) {
    case 'view':
      return views.take(message.name, message.view)
    case 'archived':
      return views.archive(message.name)
    case 'secret':
      return knowPassingSecret(message.secret)
    case 'configuration':
      return void lane.run(() => configure(message)).catch((error: unknown) => log.write('error', 'reload_failed', failedHere(error)))
    case 'tokens':
      return auth.use(message.tokens)
    case 'sync':
      return void lane.run(async () => {
        news.flush()
        say({ said: 'synced', id: message.id })
      })
    case 'close':
      void close()
  }
}
