/** The newest release of an import: it is served as it was, and what a review finds in it is held beside it until a person decides. */
import { isObject, type Commit, type Json, type JsonObject, type StartVerdict } from '../contract/index.ts'
import { composeWith, contentOf, writeSeed } from './composed.ts'
import { inLandingLane } from './elsewhere.ts'
import { COMMITS_PER_READ } from './history.ts'
import { landRow } from './land.ts'
import type { Scenario } from './scenario.ts'
import { reach, type Services } from './services.ts'

/** The metric of rows that an import wrote. */
const IMPORTED = 'imported'
/** The metric of the row that holds the seed because of an imported release. Earlier versions published that row. */
const IMPORTED_RELEASE = 'imported_release_id'
const REASONS_MAX = 3

/**
 * Holds the seed with what the review finds: a person promotes it, or rejects it and keeps what was imported. Answers whether the entries
 * that the service ships may be put to what is served: they render all of it anew, which keeps only what is admitted.
 */
export async function reviewImported(services: Services, scenario: Scenario): Promise<boolean> {
  const { created, recipe } = scenario
  const { files } = scenario.surface
  if (created.metrics[IMPORTED] === undefined || recipe.judgeImported === undefined || files === undefined) return true
  const { component = '' } = files
  const reviewing = inLandingLane(services, scenario, async () => {
    if (!(await isHeadImported(scenario))) return true
    const head = scenario.head()
    const part = contentOf(head, component)
    const content = await reach(services.contents.read(part ?? head.content_id))
    const inFolder =
      part === null ? content : Object.fromEntries(Object.entries(content).map(([path, text]) => [`${component}/${path}`, text]))
    const verdict = recipe.judgeImported?.(inFolder) ?? { kind: 'served' }
    const finding = findingOf(verdict)
    if (finding !== null && !(await isReviewed(scenario))) {
      const seed = await writeSeed(services, Object.keys(head.components ?? {}), recipe.seed ?? {})
      const contents = part === null ? seed : await composeWith(services, head, component, seed.components?.[component] ?? part)
      const held_because = `what was imported is served as it was until a person decides, and ${finding}; promote this release to serve the seed of the recipe instead, or reject it to keep what was imported`
      const metrics = { held_because, [IMPORTED_RELEASE]: head.release_id }
      const row = { operation: 'shipped', outcome: 'pending', consumed_ids: [], metrics, state: {} } as const
      await landRow(services, scenario, part === null ? row : { ...row, component }, contents)
    }
    return verdict.kind !== 'refused'
  })
  return reviewing.catch((error: unknown) => {
    services.warn('what a review finds in an imported release could not be kept', error)
    return false
  })
}

/** The finding of a review of an imported harness, in words; null when there is none. */
export function findingOf(verdict: StartVerdict): string | null {
  if (verdict.kind === 'served') return null
  if (verdict.kind === 'refused') return `it is not admitted: ${verdict.reason}`
  const { held_because: because, power_reasons: reasons } = verdict.metrics
  const shown = Array.isArray(reasons) ? reasons.slice(0, REASONS_MAX).map((reason) => (isObject(reason) ? wordsOf(reason) : '')) : []
  return [textOf(because), ...shown].filter(Boolean).join('; ')
}

const wordsOf = ({ entry, why }: JsonObject): string => [textOf(entry), textOf(why)].filter(Boolean).join(': ')

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/**
 * Whether the import was published last, but for what the service ships. What a step of this deployment or a person published since stays
 * unreviewed.
 */
async function isHeadImported(scenario: Scenario): Promise<boolean> {
  for await (const { operation, metrics } of newestRows(scenario, 'published'))
    if (operation !== 'shipped' || metrics[IMPORTED_RELEASE] !== undefined) return metrics[IMPORTED] !== undefined
  return false
}

/** Whether an earlier load held the seed. */
async function isReviewed(scenario: Scenario): Promise<boolean> {
  for await (const { metrics } of newestRows(scenario, 'held')) if (metrics[IMPORTED_RELEASE] !== undefined) return true
  return false
}

async function* newestRows({ history, releases }: Scenario, only: 'published' | 'held'): AsyncGenerator<Commit> {
  for (let before = history.step + 1; ;) {
    const page = await releases.page({ before, limit: COMMITS_PER_READ, only })
    yield* page
    const last = page.at(-1)
    if (last === undefined) return
    before = last.step
  }
}
