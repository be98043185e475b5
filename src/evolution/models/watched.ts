/** Models that tell when a call was not made because of a cap: an evaluator may take that for an answer. */
import type { Model } from '../../contract/index.ts'
import { CapReached } from '../money/caps.ts'

type Models = Readonly<Record<string, Model>>

export function watchedModels(models: Models, refused: () => void): Models {
  const watched = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      if (error instanceof CapReached) refused()
      throw error
    }
  }
  const each = ([name, model]: [string, Model]): [string, Model] => [
    name,
    {
      ...model,
      chat: (...asked) => watched(model.chat(...asked)),
      turn: (...asked) => watched(model.turn(...asked)),
    },
  ]
  return Object.fromEntries(Object.entries(models).map(each))
}
