/** Prints the effective configuration with origins, as a table or as JSON. Secrets are masked. */
import type { LoadedConfig } from './load.ts'
import { valueOf } from './origins.ts'
import { masked } from './secrets.ts'

export function printedKeys({ config, origins }: Pick<LoadedConfig, 'config' | 'origins'>) {
  return [...origins].map(([key, origin]) => ({ key, value: masked(key, valueOf(config, key)), origin }))
}

export function printConfig(loaded: LoadedConfig): string {
  const rows = printedKeys(loaded).map(({ key, value, origin }) => [key, JSON.stringify(value), origin] as const)
  const keyWidth = Math.max(...rows.map(([key]) => key.length))
  const valueWidth = Math.max(...rows.map(([, value]) => value.length))
  const lines = rows.map(([key, value, origin]) => `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${origin}`)
  const { runtime, model, found } = loaded.upstream
  return [...lines, '', `answers: ${runtime}${model === null ? '' : ` at ${model.url}`} (${found})`].join('\n')
}

export const printConfigJson = (loaded: LoadedConfig): string => JSON.stringify(shownConfig(loaded), null, 2)

export function shownConfig(loaded: Pick<LoadedConfig, 'config' | 'origins' | 'upstream'>) {
  const { runtime, model, found } = loaded.upstream
  return { keys: printedKeys(loaded), upstream: { runtime, url: model?.url ?? null, found } }
}
