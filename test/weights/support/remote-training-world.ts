/** A service that trains the tiny model, with its engine behind HTTP: a simulated server with the real model. */
import { join } from 'node:path'
import { openLlamaEngine } from '../../../plugins/runtimes/llama/engine.ts'
import { readSettings } from '../../../plugins/runtimes/llama/settings.ts'
import type { Settings } from '../../support/settings.ts'
import { llamaDecoder } from '../engines/llama-decoder.ts'
import { KINDS, type Kind } from '../engines/kinds.ts'
import { VOCABULARY, withLlama } from './llama.ts'
import { openTrainingWorld } from './training-world.ts'
import { tinyModel } from './tiny-model.ts'

/** The decoder's capacity must not be the limit. */
const DECODER_CAPACITY = 64

export async function openRemoteTrainingWorld(kind: Kind, capacity: number, settings: Settings) {
  withLlama()
  const model = join(await tinyModel(), 'model.gguf')
  const decoding = await openLlamaEngine(readSettings({ model, capacity: DECODER_CAPACITY }))
  const engine = await KINDS[kind].start({ decoder: await llamaDecoder(decoding), capacity })
  const training = await openTrainingWorld({
    'inference.runtime': kind,
    'inference.engine.url': engine.url,
    'inference.engine.model': 'tiny',
    'inference.engine.capacity': capacity,
    'inference.engine.vocabulary': VOCABULARY,
    ...settings,
  })
  return {
    ...training,
    engine,
    async close() {
      await training.close()
      await engine.close()
      await decoding.close()
    },
  }
}
