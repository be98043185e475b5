/** The message of `serve` when it is ready: address, access, model, data folders, and an example call. */
import { curlLine } from '@svc-ai/client/shared'
import { safeInstallLine } from '@svc-ai/client/signing'
import type { LoadedConfig } from '../config/index.ts'
import { ENV, HEADER, PRODUCT, ROUTE_PREFIX, type ModelApi } from '../contract/index.ts'
import { hasToken, installOrder } from './install-order.ts'
import { paint, shellWord } from './screen/text.ts'
import type { DemoState } from './welcome/demo.ts'

const SCENARIO = 'demo'
const UNKNOWN_MODEL = 'MODEL'

const DEMO: Readonly<Record<DemoState, readonly string[]>> = {
  ahead: ['a small agent that improves while you watch; the first step takes half a minute'],
  learnt: ['a small agent that has improved; the console shows every step'],
  none: [],
}

interface Screen {
  readonly demo: DemoState
  readonly colours: boolean
}

export function banner(loaded: LoadedConfig, url: string, key: string, screen: Screen): string {
  const line = (name: string, text: string): string => `  ${paint(name.padEnd(8), 'quiet', screen)} ${text}`
  return [
    `${PRODUCT} is ready at ${paint(url, 'strong', screen)}`,
    line('console', paint(`${url}/console`, 'strong', screen)),
    line(
      'access',
      hasToken(loaded)
        ? `a token is needed: set ${ENV.token}, or enter it once in the console`
        : 'open on loopback, because no token is set',
    ),
    line('answers', answers(loaded)),
    line('data', dataPlace(loaded)),
    line('key', `${key} signs the releases`),
    ...DEMO[screen.demo].map((text) => line('practice', text)),
    '',
    ...install(loaded, url, key),
    ...tryIt(loaded, url),
  ].join('\n')
}

function answers({ upstream }: LoadedConfig): string {
  const { runtime, model, found } = upstream
  if (runtime === 'practice')
    return `a built-in mock model; no API key needed (${found}). For a real model set ${ENV.upstreamUrl} or OPENAI_API_KEY`
  return `${model === null ? runtime : model.url} (${found})`
}

function dataPlace({ config }: LoadedConfig): string {
  const { record_backend: backend, agent_record_dir: records, artifact_repository: releases } = config.storage
  if (backend === 'memory') return 'in memory: lost when the service stops'
  return `${records} (records), ${releases} (releases)`
}

function install(loaded: LoadedConfig, url: string, key: string): readonly string[] {
  const order = installOrder(loaded, url, key)
  return order === null ? [] : [`Install ${order.adapter} with its harness, in a folder of yours:`, `  ${safeInstallLine(order)}`]
}

function tryIt(loaded: LoadedConfig, url: string): readonly string[] {
  const { config, upstream } = loaded
  const model = upstream.exampleModel ?? UNKNOWN_MODEL
  const { path, body } = EXAMPLE[upstream.model?.api ?? 'openai'](model)
  const curl = (at: string, headers: readonly string[], json: object): string =>
    `  ${curlLine(`${url}${at} ${[`-H 'content-type: application/json'`, ...headers].join(' ')} -d ${shellWord(JSON.stringify(json))}`, hasToken(loaded))}`
  const create = config.svc.allow_implicit_scenario_creation ? [] : [curl(`${ROUTE_PREFIX}/scenarios`, [], { name: SCENARIO })]
  const hint = model === UNKNOWN_MODEL ? ` (with a model of your upstream for ${UNKNOWN_MODEL})` : ''
  return [`Try it${hint}:`, ...create, curl(path, [`-H '${HEADER.scenario}: ${SCENARIO}'`], body)]
}

const EXAMPLE: Readonly<Record<ModelApi, (model: string) => { readonly path: string; readonly body: object }>> = {
  openai: (model) => ({ path: '/v1/chat/completions', body: { model, messages: [{ role: 'user', content: 'Hello' }] } }),
  responses: (model) => ({ path: '/v1/responses', body: { model, input: 'Hello' } }),
  anthropic: (model) => ({ path: '/v1/messages', body: { model, max_tokens: 256, messages: [{ role: 'user', content: 'Hello' }] } }),
  gemini: (model) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    body: { contents: [{ parts: [{ text: 'Hello' }] }] },
  }),
}
