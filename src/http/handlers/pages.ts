/** The two pages that people open: what a step did, and how far a request is. Gathered here from one moment of the scenario, drawn by `pages`. */
import { isObject, isRefusal, PRODUCT } from '../../contract/index.ts'
import type { Adapter, Entry, Json, JsonObject, ListedRow } from '../../contract/index.ts'
import { entriesIn } from '../../harness/index.ts'
import * as pages from '../../pages/index.ts'
import { requiresOf } from '../../releases/index.ts'
import { catalogRows, listedRows, relatedReleases, relatedRows, type Scenario } from '../../scenarios/index.ts'
import { refuseKeyOfOther } from '../credentials/auth.ts'
import { noFiles, rowAt, unknownRequest, unknownStep } from './harness.ts'
import type { HttpContext } from '../context.ts'
import { readsHeldOut, rowFor, seesHeldReleases, stepFor } from './held-out.ts'
import type { HttpReply } from '../reply.ts'
import { pageScenario } from '../request-fields.ts'

export async function versionPage(context: HttpContext): Promise<HttpReply> {
  const { services, query } = context
  const step = context.params['step'] ?? ''
  return services.registry.use(pageScenario(context), async (scenario) => {
    refuseKeyOfOther(context.principal, scenario)
    const { surface, history, recipeName, name } = scenario
    if (surface.files === undefined) throw noFiles(recipeName)
    const { row: whole, place } = await rowAt(scenario, step)
    if (whole.pending && !seesHeldReleases(context)) throw unknownStep(scenario)
    const row = rowFor(context, whole)
    const releases = await relatedRows(scenario, row)
    const last = history.count - 1
    const carried = await requiresOf(scenario.releases, row.composed_release_id ?? row.release_id)
    const before = await treeBefore(scenario, row)
    const { archive } = scenario.binding
    const isOpen = archive !== undefined && readsHeldOut(context)
    const played = isOpen ? await pages.playedSides(row.metrics, (record, path) => archive.read(record, path)) : new Map()
    return htmlReply(pages.versionPage({ scenario: name, query: linkQuery(query), row, place, last, releases, before, carried, played }))
  })
}

export async function requestPage(context: HttpContext): Promise<HttpReply> {
  const { services, query } = context
  const id = context.params['record_id'] ?? ''
  return services.registry.use(pageScenario(context), async (scenario) => {
    refuseKeyOfOther(context.principal, scenario)
    const record = await scenario.store.get(id)
    if (record?.request_type !== 'train') throw unknownRequest(id)
    const progress = await scenario.progress(id)
    const { settled, ...shown } = await settledIn(scenario, progress.step)
    const row = settled === undefined ? null : rowFor(context, settled.row)
    const before = row === null ? null : await treeBefore(scenario, row)
    const running = scenario.running().find(({ request_id: held }) => held === id)
    const page = pages.requestPage({
      scenario: scenario.name,
      query: linkQuery(query),
      ...shown,
      row,
      place: settled?.place ?? null,
      before,
      request: { id, created_at: record.created_at, asked: { ...objectIn(record.payload), ...requestIn(row?.metrics) } },
      progress,
      running: running === undefined ? null : stepFor(context, running),
      wrapper: wrapperOf(scenario.recipe.adapter),
      now: services.clock(),
    })
    return htmlReply(page)
  })
}

/** Links lead on with what this page was opened with, and with nothing else. */
function linkQuery(query: URLSearchParams): string {
  const given = new URLSearchParams()
  for (const name of ['scenario', 'key']) if (query.has(name)) given.set(name, query.get(name) ?? '')
  return given.size === 0 ? '' : `?${given.toString()}`
}

/** The tree that a step's candidate was made of; null where there is none that can be read: a page is shown without it. */
async function treeBefore({ recipe, surface, releases }: Scenario, row: ListedRow): Promise<readonly Entry[] | null> {
  if (recipe.adapter === undefined || surface.files === undefined || row.operation !== 'train') return null
  const madeRelease = row.result === 'published' || row.result === 'pending'
  const base = madeRelease ? (row.composed_parent_release_id ?? row.parent_release_id) : (row.composed_release_id ?? row.release_id)
  const release = (await releases.find(base ?? ''))?.row.release ?? null
  if (release === null) return null
  try {
    return entriesIn(recipe.adapter, await surface.files.read(release))
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/** In a scenario without files, or by a component that is not theirs, a request is settled by a row that has no page of its own. */
async function settledIn(scenario: Scenario, step: number | null) {
  if (scenario.surface.files !== undefined) {
    const [settled] = step === null ? [] : await listedRows(scenario, { step }, 1)
    if (step === null || settled?.row.step === step)
      return { settled, releases: await relatedRows(scenario, settled?.row ?? null), hasVersions: true }
  }
  const row = step === null ? undefined : await scenario.wholeRow(step)
  const releases = await relatedReleases(scenario, row ?? null)
  const [shown] = row === undefined ? [] : await catalogRows(scenario, [row])
  return { settled: shown && { place: shown.step, row: shown }, releases, hasVersions: false }
}

function requestIn(metrics: JsonObject = {}): JsonObject {
  const request = metrics['training_request']
  return isObject(request) ? request : {}
}

/** Nothing where capacity took the body, or a disk spoilt it. */
function objectIn(payload: Uint8Array | null): JsonObject {
  try {
    const value: Json = JSON.parse(Buffer.from(payload ?? []).toString())
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Null for an agent that is not installed by a command: it follows its scenario by itself. */
const wrapperOf = (adapter: Adapter | undefined): string | null => (adapter?.install === undefined ? null : `${PRODUCT}-${adapter.name}`)

/** Nothing may be run, loaded, framed or sent from a page, and no address it leads to learns the key in its own. */
const HTML_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src '${pages.STYLE_HASH}'; img-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
}

const htmlReply = (body: string, status = 200): HttpReply & { readonly body: string } => ({ status, headers: HTML_HEADERS, body })

export const refusedPage = (refusal: Parameters<typeof pages.refusalPage>[0]): HttpReply & { readonly body: string } =>
  htmlReply(pages.refusalPage(refusal), refusal.status)
