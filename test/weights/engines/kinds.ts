/** The engines over HTTP, each with its simulated server. */
import { onTestFinished } from 'vitest'
import { readEngineSettings } from '../../../plugins/runtimes/common/settings.ts'
import { SglangEngine } from '../../../plugins/runtimes/sglang/engine.ts'
import { VllmEngine } from '../../../plugins/runtimes/vllm/engine.ts'
import type { Engine, JsonObject } from '../../../src/contract/index.ts'
import { adapterFolder } from './adapter-folder.ts'
import { startSglang } from './sglang-server.ts'
import type { EngineOptions } from './state.ts'
import { startVllm } from './vllm-server.ts'

export const KINDS = {
  sglang: { start: startSglang, Engine: SglangEngine },
  vllm: { start: startVllm, Engine: VllmEngine },
}
export type Kind = keyof typeof KINDS
export const kinds: readonly Kind[] = ['sglang', 'vllm']
export const NEVER = new AbortController().signal

/** A server and an engine that calls it, closed after the test. */
export async function openEngine(kind: Kind, options: EngineOptions = {}, config: JsonObject = {}) {
  const server = await KINDS[kind].start(options)
  onTestFinished(() => server.close())
  return { server, engine: connect(kind, server.url, config) }
}

/** The same, with an adapter of these weights loaded as svc.a.1. */
export async function openTrained(kind: Kind, weights: number, options: EngineOptions = {}) {
  const opened = await openEngine(kind, options)
  const directory = await adapterFolder(weights)
  await opened.engine.load({ name: 'svc.a.1', directory }, NEVER)
  return { ...opened, directory }
}

export function connect(kind: Kind, url: string, config: JsonObject = {}): Engine {
  const engine = new KINDS[kind].Engine(readEngineSettings(kind, { url, ...config }))
  onTestFinished(() => engine.close())
  return engine
}
