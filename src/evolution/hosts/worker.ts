/** Plays what a service offers, on a worker: the same configuration, the same agent, the same evaluator. */
import { z } from 'zod'
import { isObject, type Entry, type Episode, type JsonObject, type ModelAddress, type Parts, type Task } from '../../contract/index.ts'
import { evolutionSettings, loadMethod, withModule } from '../method.ts'
import { openModels, SILENT } from '../models/index.ts'
import { ScorerProblem } from '../scoring.ts'
import { hostAlone } from './here.ts'
import { playsOf } from './plays.ts'
import type { WorkerResult } from './workers.ts'

export interface EpisodePlayer {
  /** What it plays, as services ask for it. */
  readonly plays: string
  /** Throws where no episode can be played on this machine. */
  ready(): Promise<void>
  /** Throws where the episode is not wanted any more, or where this machine cannot play it. */
  play(order: JsonObject, model: ModelAddress, signal: AbortSignal): Promise<WorkerResult>
}

/** `config` is what a recipe is made from; `programs` is where agents are installed. */
export async function openEpisodePlayer(config: JsonObject, parts: Parts, programs: string): Promise<EpisodePlayer> {
  const settings = await withModule(evolutionSettings(config), parts.baseDirectory)
  const adapter = await parts.plugin('adapter', settings.adapter)
  const method = await loadMethod(settings, { ...Object(config['evolution']), base_directory: parts.baseDirectory }, parts)
  const host = hostAlone({ adapter, method, settings }, parts, programs)
  return {
    plays: await playsOf(adapter, settings),
    ready: () => host.ready(),
    async play(order, model, signal) {
      const input = episodeInput.parse(order)
      const { models } = openModels(model, { callsMax: 0, report: SILENT, signal })
      try {
        // The service counts the calls, and holds them to the budget of the step.
        const count = { budget: null, hold: async () => null, used: () => undefined, counted: () => undefined }
        return await host.play(input, { model, models, signal, priority: 'traffic', ...count })
      } catch (error) {
        if (error instanceof ScorerProblem) return { problem: error.message }
        throw error
      }
    },
  }
}

/** Made by a service that this worker trusts with its machine; what is checked is that it can be played. */
const episodeInput = z.object({
  side: z.enum(['candidate', 'current']),
  entries: z.array(z.custom<Entry>(isObject)),
  task: z.custom<Task>((value) => isObject(value) && typeof value['name'] === 'string' && typeof value['prompt'] === 'string'),
  reference: z.custom<Episode>(isObject).nullable(),
  luck: z.string().nullable(),
})
