/** What a turn needs, put together: a tree, a model, a folder to work in. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelPlace } from './chat.ts'
import { failed } from './ended.ts'
import { redactor } from './session-log.ts'
import type { Tree } from './tree.ts'
import type { TurnScene, SelfTool } from './turn.ts'

export interface SceneParts {
  readonly tree: Tree
  readonly model: ModelPlace
  readonly workdir: string
  readonly signal: AbortSignal
  readonly selfTools?: readonly SelfTool[]
}

export function sceneOf({ tree, model, workdir, signal, selfTools = [] }: SceneParts): TurnScene {
  return {
    tree,
    model,
    workdir,
    selfTools,
    redact: redactor(model.apiKey),
    signal,
    wait: (seconds) => sleep(seconds * 1000, undefined, { signal }).catch(() => signal.throwIfAborted()),
  }
}

/** The model that the files of a tree name. Throws when they name none. */
export function boundModel({ model }: Tree): ModelPlace {
  const { baseUrl, apiKey, model: name, contextTokens } = model
  if (baseUrl === null)
    throw failed(
      'LOAD_ERROR',
      "the tree names no model (models.json has no base_url): run it by 'svc-native serve', which knows the service",
    )
  return { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey, model: name, contextTokens, headers: {} }
}
