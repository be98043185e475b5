/** Describes an adapter for the routes. */
import { NAMED_KINDS, type Adapter, type EntryKind, type AdapterView } from '../contract/index.ts'

export function describeAdapter(adapter: Adapter): AdapterView {
  const { name, binary, trajectory_format, bindings } = adapter
  return {
    name,
    binary,
    trajectory_format,
    model_bindings: Object.keys(bindings),
    kinds: kindsOf(adapter),
    install: pinOf(adapter),
  }
}

/** Without the lock file, which only the install script needs. */
function pinOf({ install }: Adapter): AdapterView['install'] {
  if (install === undefined) return null
  const { lock: _, ...pin } = install
  return { ...pin }
}

/** The kinds of entries that it renders. */
export function kindsOf({ layout }: Adapter): readonly EntryKind[] {
  const named = NAMED_KINDS.filter((kind) => layout.named[kind] !== undefined)
  return layout.rules === undefined ? ['config', ...named] : ['config', 'rules', ...named]
}
