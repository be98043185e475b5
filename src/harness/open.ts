/** Opens a recipe's harness: its adapter, the seed of a new scenario, the files that clients pull, and updates of the shipped entries. */
import { z } from 'zod'
import {
  canonicalJson,
  invalid,
  isRefusal,
  type Adapter,
  type Entry,
  type Files,
  type JsonObject,
  type Parts,
  type ScenarioScope,
  type Shipped,
  type StartVerdict,
  type Surface,
} from '../contract/index.ts'
import { isReserved } from './admission.ts'
import { entryProblem } from './kinds.ts'
import { judgeImported, judgeStart } from './start.ts'
import { contentOf, entriesIn, isSameContent, plainEntry } from './tree.ts'

export interface OpenedHarness {
  readonly adapter: Adapter
  /** The content of a new scenario's first release. */
  readonly seed: Files
  /** Judges a release from elsewhere that a new scenario is to start from, by the content of its harness. */
  readonly judgeStart: (content: Files) => StartVerdict
  /** Reviews the newest release of an import. */
  readonly judgeImported: (content: Files) => StartVerdict
  /** The `files` of a scenario's surface. */
  readonly files: (read: ScenarioScope['read'], component?: string) => NonNullable<Surface['files']>
}

/** The configuration was validated when it was read; this schema gives it a type. */
const section = z.object({
  adapter: z.string(),
  seed: z.array(z.custom<Entry>()).readonly(),
  /** Null: on where the adapter ships entries. */
  version_check: z.boolean().nullable(),
  requests: z.boolean().nullable(),
  publish: z.string().default('auto'),
  publish_powers: z.array(z.string()).default(['words']),
  review_kinds: z.array(z.string()).default([]),
})

type SeedSettings = Pick<z.infer<typeof section>, 'seed' | 'version_check' | 'requests'>

export async function openHarness(config: JsonObject, parts: Parts): Promise<OpenedHarness> {
  const configured = section.parse(config['evolution'])
  const adapter = await parts.plugin('adapter', configured.adapter)
  // Without a configured seed the adapter's own is used.
  const settings = { ...configured, seed: configured.seed.length === 0 ? (adapter.seed ?? []) : configured.seed }
  const entries = seedTree(adapter, settings)
  const seed = seedContent(adapter, entries)
  const shipped = shippedEntries(adapter, settings)
  return {
    adapter,
    seed,
    judgeStart: (content) => judgeStart(adapter, entries, configured, content),
    judgeImported: (content) => judgeImported(adapter, entries, configured, content),
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

/** The configured entries, then the shipped ones. Errors name the configuration key. */
function seedTree(adapter: Adapter, settings: SeedSettings): readonly Entry[] {
  for (const [index, entry] of settings.seed.entries()) {
    const problem = seedProblem(adapter, settings.seed.slice(0, index), entry)
    if (problem !== null) throw invalid('bad_seed', `evolution.seed[${index}]: ${withCure(problem)}`)
  }
  return [...settings.seed.map((entry) => plainEntry({ ...entry, author: 'person' })), ...shippedEntries(adapter, settings)]
}

/** Rules with a fix hold a semicolon. */
const withCure = (problem: string): string => (problem.includes('; ') ? problem : `${problem}; correct the entry in the configuration`)

function seedProblem(adapter: Adapter, before: readonly Entry[], entry: Entry): string | null {
  const problem = entryProblem(adapter, entry)
  if (problem !== null) return problem
  if (entry.author !== undefined) return `${entry.id}: author is set by the service; leave it out`
  if (isReserved(entry.id)) return `${entry.id} is an entry that the service ships; choose another id`
  return before.some(({ id }) => id === entry.id) ? `${entry.id} is the id of an entry above; choose another` : null
}

function shippedEntries(adapter: Adapter, settings: SeedSettings): readonly Entry[] {
  return (['version_check', 'requests'] as const).flatMap((key) => {
    const shipped = adapter.shipped?.[key] ?? []
    if (settings[key] === true && shipped.length === 0)
      throw invalid('nothing_shipped', `evolution.${key}: nothing of it is shipped for ${adapter.name}; leave it out`)
    return settings[key] === false ? [] : shipped.map(plainEntry)
  })
}

/**
 * The updated content, or null. A newer adapter may also render the same tree to other files. Null too when the content is not a tree of this
 * adapter, or the shipped entries conflict with it: serving the old tree is better than a scenario that cannot be loaded.
 */
export function shippedUpdate(adapter: Adapter, shipped: readonly Entry[], content: Files): Shipped | null {
  try {
    const entries = entriesIn(adapter, content)
    const changed = shipped.filter((entry) => !entries.some((old) => printedEntry(old) === printedEntry(entry)))
    const gone = entries.filter(({ id }) => isReserved(id) && !shipped.some((entry) => entry.id === id))
    const kept = entries.filter((old) => !gone.includes(old)).map((old) => changed.find(({ id }) => id === old.id) ?? old)
    const added = changed.filter(({ id }) => !entries.some((old) => old.id === id))
    const rendered = contentOf(adapter, [...kept, ...added])
    return isSameContent(rendered, content) ? null : { content: rendered, entries: [...changed, ...gone].map(({ id }) => id) }
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

const printedEntry = (entry: Entry): string => canonicalJson({ ...plainEntry(entry) })
