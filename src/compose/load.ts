/** Loads plug-ins of the configuration by kind and name. */
import { loadPlugin, type Builtins, type LoadedConfig } from '../config/index.ts'
import type { Kind, Kinds } from '../contract/index.ts'

export type Load = <K extends Kind>(kind: K, name: string) => Promise<Kinds[K]>

export function loaderOf({ baseDirectory }: LoadedConfig, plugins: Builtins): Load {
  return (kind, name) => loadPlugin(kind, name, plugins, baseDirectory)
}
