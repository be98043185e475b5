/** Opens the configured runtime. */
import type { LoadedConfig } from '../config/index.ts'
import type { JsonObject, ModelAddress, Runtime, Store } from '../contract/index.ts'
import { adapterPrefix, holdAdapterNames } from './adapter-prefix.ts'
import { allowedInside } from './inside.ts'
import type { Load } from './load.ts'

/** Servers of the operator's, which other services may load adapters into as well. */
const SHARED_ENGINES: ReadonlySet<string> = new Set(['sglang', 'vllm'])

/** `group` is the same for the threads of one service: they share what they find out about upstreams. The first of them brings the store. */
export async function openRuntime(loaded: LoadedConfig, load: Load, group: string, store?: Pick<Store, 'lease'>): Promise<Runtime> {
  const { config, upstream } = loaded
  const { timeout_s, engine } = config.inference
  const settings = { timeout_s, ...engineSettings(engine) }
  const proxied = providerSettings(loaded, group)
  if (upstream.runtime === 'provider') return (await load('runtime', 'provider')).make(proxied)
  if (SHARED_ENGINES.has(upstream.runtime)) {
    const adapter_prefix = await adapterPrefix(loaded)
    if (store !== undefined) await holdAdapterNames(store, adapter_prefix)
    return (await load('runtime', upstream.runtime)).make({ ...settings, adapter_prefix })
  }
  if (upstream.runtime !== 'practice') return (await load('runtime', upstream.runtime)).make(settings)
  const [practice, provider] = await Promise.all([load('runtime', 'practice'), load('runtime', 'provider')])
  return withOwnModels(await practice.make({}), await provider.make(proxied))
}

/** Throws where the settings cannot be used, with the reason; then nothing has changed. */
export function reconfigureRuntime(runtime: Runtime, loaded: LoadedConfig, group: string): void {
  if (loaded.upstream.runtime === 'provider') runtime.reconfigure?.(providerSettings(loaded, group))
}

function providerSettings(loaded: LoadedConfig, group: string): JsonObject {
  const { config, upstream, proxies } = loaded
  const { timeout_s, upstreams, upstream_retries, breaker, client_key_origins } = config.inference
  const outside = { allow_inside: allowedInside(loaded), own_urls: [upstream.model?.url ?? []].flat() }
  const several = Object.keys(upstreams).length === 0 ? {} : { upstreams, upstream_retries, breaker, group }
  return { timeout_s, client_key_origins, ...several, ...outside, ...proxySetting(proxies) }
}

export const proxySetting = (proxies: LoadedConfig['proxies']): JsonObject => (proxies === null ? {} : { proxy: { ...proxies } })

/** Unset keys are not passed on: every runtime has its own defaults and refuses unknown keys. */
function engineSettings(engine: LoadedConfig['config']['inference']['engine']): JsonObject {
  return Object.fromEntries(Object.entries(engine).filter(([, value]) => value !== null))
}

/** A scenario with an address of its own is answered from there, even where the deployment has no upstream. */
function withOwnModels(embedded: Runtime, provider: Runtime): Runtime {
  const of = ({ model }: { readonly model: ModelAddress }): Runtime => (model.url === '' ? embedded : provider)
  return {
    infer: (call) => of(call).infer(call),
    models: (call) => of(call).models(call),
    formats: (call) => of(call).formats?.(call) ?? [],
    status: () => embedded.status(),
    close: async () => {
      await Promise.all([embedded.close(), provider.close()])
    },
  }
}

/** Without an upstream address the runtime itself answers. */
export const modelOf = ({ upstream: { model, exampleModel } }: LoadedConfig): ModelAddress =>
  model ?? { url: '', model: exampleModel, api: 'openai', apiKey: null }
