/** What is told of an adapter to whoever chooses one. */
import { NAMED_KINDS, type Adapter, type EntryKind, type JsonObject } from '../contract/index.ts'

export function describeAdapter(adapter: Adapter): JsonObject {
  const { name, binary, trajectory_format, bindings, install } = adapter
  return {
    name,
    binary,
    trajectory_format,
    model_bindings: Object.keys(bindings),
    kinds: kindsOf(adapter),
    install: install === undefined ? null : { ...install },
  }
}

/** The kinds of entries that it has a place for. */
export function kindsOf({ layout }: Adapter): readonly EntryKind[] {
  const named = NAMED_KINDS.filter((kind) => layout.named[kind] !== undefined)
  return layout.rules === undefined ? ['config', ...named] : ['config', 'rules', ...named]
}
