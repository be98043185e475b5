/** A service that trains the tiny model's weights, with its engine behind HTTP: a server of ours in this process, which answers with the real model. */
import { join } from 'node:path'
import { openLlamaEngine } from '../../../plugins/runtimes/llama/engine.ts'
import { readSettings } from '../../../plugins/runtimes/llama/settings.ts'
import type { Settings } from '../../support/settings.ts'
import { llamaDecoder } from '../engines/llama-decoder.ts'
import type { EngineServer } from '../engines/server.ts'
import { startSglang } from '../engines/sglang-server.ts'
import { startVllm } from '../engines/vllm-server.ts'
import { VOCABULARY, withLlama } from './llama.ts'
import { openSchool, type School } from './school.ts'
import { tinyModel } from './tiny-model.ts'

export interface DistantSchool extends School {
  readonly engine: EngineServer
}

/** What decodes must never be what runs out of room. */
const DECODER_CAPACITY = 64

export async function openDistantSchool(kind: 'sglang' | 'vllm', capacity: number, settings: Settings = {}): Promise<DistantSchool> {
  withLlama()
  const model = join(await tinyModel(), 'model.gguf')
  const decoding = await openLlamaEngine(readSettings({ model, capacity: DECODER_CAPACITY }))
  const start = kind === 'sglang' ? startSglang : startVllm
  const engine = await start({ decoder: await llamaDecoder(decoding), capacity })
  const school = await openSchool({
    'inference.runtime': kind,
    'inference.engine.url': engine.url,
    'inference.engine.model': 'tiny',
    'inference.engine.capacity': capacity,
    'inference.engine.vocabulary': VOCABULARY,
    ...settings,
  })
  return {
    ...school,
    engine,
    async close() {
      await school.close()
      await engine.close()
      await decoding.close()
    },
  }
}
