/** Opens a recipe's harness: its adapter, the seed of a new scenario, and the files that clients pull. */
import { z } from 'zod'
import {
  invalid,
  isRefusal,
  type Adapter,
  type Entry,
  type Files,
  type JsonObject,
  type Parts,
  type ScenarioScope,
  type Surface,
} from '../contract/index.ts'
import { seedTree, shippedEntries, shippedUpdate, withCure } from './seed.ts'
import { contentOf } from './tree.ts'

export interface OpenedHarness {
  readonly adapter: Adapter
  /** The content of a new scenario's first release. */
  readonly seed: Files
  /** The `files` of a scenario's surface. */
  readonly files: (read: ScenarioScope['read'], component?: string) => NonNullable<Surface['files']>
}

/** The configuration was validated when it was read; this schema gives it a type. */
const section = z.object({
  adapter: z.string(),
  seed: z.array(z.custom<Entry>()),
  version_check: z.boolean().nullable(),
  requests: z.boolean().nullable(),
})

export async function openHarness(config: JsonObject, parts: Parts): Promise<OpenedHarness> {
  const configured = section.parse(config['evolution'])
  const adapter = await parts.plugin('adapter', configured.adapter)
  // Without a configured seed the adapter's own is used.
  const settings = { ...configured, seed: configured.seed.length === 0 ? (adapter.seed ?? []) : configured.seed }
  const seed = seedContent(adapter, seedTree(adapter, settings))
  const shipped = shippedEntries(adapter, settings)
  return {
    adapter,
    seed,
    files: (read, component) => ({
      ...(component !== undefined && { component }),
      read: ({ content_id, components = {} }) => read(component === undefined ? content_id : (components[component] ?? content_id)),
      shipped: (content) => shippedUpdate(adapter, shipped, content),
    }),
  }
}

function seedContent(adapter: Adapter, entries: readonly Entry[]): Files {
  try {
    return contentOf(adapter, entries)
  } catch (error) {
    if (isRefusal(error)) throw invalid('bad_seed', `evolution.seed: ${withCure(error.message)}`)
    throw error
  }
}
