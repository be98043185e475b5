/** The harness routes: the tree that clients pull, its catalog, the files of its steps, instructions and proposals. */
import { HEADER, ROUTE_PREFIX, unknown } from '../../contract/index.ts'
import type {
  Admission,
  StepArchive,
  ListedRow,
  AdapterList,
  Catalog,
  Manifest,
  RequestProgress,
  RunningSteps,
  StepFiles,
} from '../../contract/index.ts'
import { describeAdapter, parseProposal, pulledFiles } from '../../harness/index.ts'
import { releaseFor } from '../../inference/index.ts'
import { newId } from '../../kit/index.ts'
import { evaluationIn, listedCatalog, notPulled, pulledRelease } from '../../releases/index.ts'
import { listedRows, type PlacedRow, type Scenario } from '../../scenarios/index.ts'
import { pageQuery } from '../credentials/auth.ts'
import { refuseAgents, rowFor, seesHeldReleases } from './held-out.ts'
import { noteChange } from './audit.ts'
import { askerOf } from './records.ts'
import type { HttpContext } from '../context.ts'
import { json, liveJson, type HttpReply } from '../reply.ts'
import { cutPage, pageLimit, scenarioOf, tagsOf, takesProvisional, wholeNumber } from '../request-fields.ts'

/** The files of the head, or of a release of the catalog, with their evaluation and requirements. Never waits for a step. */
export async function manifest(context: HttpContext): Promise<HttpReply> {
  const { services, query } = context
  return services.registry.use(scenarioOf(context.request), async (scenario) => {
    const { surface, releases, recipeName, name, recipe } = scenario
    if (surface.files === undefined) throw noFiles(recipeName)
    const provisional = provisionalFor(context, scenario)
    const wanted = query.get('release_id') ?? provisional
    const { release, evaluatedAt, requires, step, held, time, ...ids } = await pulledRelease(releases, wanted)
    if (held && !seesHeldReleases(context)) throw notPulled()
    const evaluated = evaluatedAt === null ? undefined : await scenario.wholeRow(evaluatedAt)
    const evaluation = evaluationIn(evaluated?.metrics ?? {})
    const files = pulledFiles(await surface.files.read(release))
    const { content_id, components } = release
    const isProvisional = release.release_id === scenario.history.provisional?.row.release.release_id
    const about = { scenario: name, adapter: recipe.adapter, ...ids, content_id, step, held, time, delivery: null }
    const signed = await services.signer.release({ ...about, files, requires })
    const reply = liveJson({
      ...ids,
      content_id,
      files,
      evaluation,
      requires,
      ...(components && { components }),
      ...(isProvisional && { provisional: true }),
      signed,
    } satisfies Manifest)
    const marks = { [HEADER.release]: ids.release_id, ...(isProvisional && { [HEADER.provisional]: 'yes' }) }
    return { ...reply, headers: { ...reply.headers, ...marks } }
  })
}

/** The provisional release, where this client is served it. */
function provisionalFor({ request }: HttpContext, scenario: Scenario): string | null {
  const { provisional } = scenario
  const client = { tags: tagsOf(request.headers), takesProvisional: takesProvisional(request) }
  return provisional !== null && releaseFor(scenario, client) === provisional.release ? provisional.release.release_id : null
}

export const noFiles = (recipeName: string): Error =>
  unknown('no_harness', `recipe ${recipeName} serves no harness files; a harness recipe would`)

export async function catalog(context: HttpContext): Promise<HttpReply> {
  const { services, query } = context
  const name = scenarioOf(context.request)
  const shown = (row: ListedRow, place: number, keyed: string) =>
    row.pending && !seesHeldReleases(context)
      ? []
      : [{ ...rowFor(context, row), page_path: `${ROUTE_PREFIX}/harness/releases/${place}/page?${keyed}` }]
  const isPaged = query.has('limit') || query.has('after_step')
  const limit = pageLimit(query)
  const after = wholeNumber(query, 'after_step', -1)
  return services.registry.use(name, async (scenario) => {
    const { surface, recipeName } = scenario
    if (surface.files === undefined) throw noFiles(recipeName)
    const { component } = surface.files
    const keyed = pageQuery(context.principal, scenario)
    if (!isPaged)
      return liveJson({
        scenario: name,
        releases: listedCatalog(await scenario.everyRow(), component).flatMap((row, place) => shown(row, place, keyed)),
      } satisfies Catalog)
    const { rows, next } = cutPage(await listedRows(scenario, { step: after + 1 }, limit + 1), limit, ({ row }) => row.step)
    return liveJson({
      scenario: name,
      releases: rows.flatMap(({ row, place }) => shown(row, place, keyed)),
      next_after_step: next,
    } satisfies Catalog)
  })
}

export async function stepRecords(context: HttpContext): Promise<HttpReply> {
  refuseAgents(context)
  const { services, query } = context
  return services.registry.use(scenarioOf(context.request), async (scenario) => {
    const { surface, recipeName } = scenario
    const { archive } = scenario.binding
    if (surface.files === undefined) throw noFiles(recipeName)
    const { row } = await rowAt(scenario, context.params['step'] ?? '')
    if (archive === undefined) return without('disabled')
    const record = row.metrics['step_record']
    if (typeof record !== 'string') return without('not_recorded')
    const path = query.get('path')
    return path === null ? inventory(archive, record) : oneFile(archive, record, path)
  })
}

const STEP = /^\d{1,9}$/

export async function rowAt(scenario: Scenario, step: string): Promise<PlacedRow> {
  const { count } = scenario.history
  const [found] = STEP.test(step) && Number(step) < count ? await listedRows(scenario, { place: Number(step) }, 1) : []
  if (found === undefined) throw unknownStep(scenario)
  return found
}

export const unknownStep = ({ history: { count } }: Scenario): Error =>
  unknown('unknown_step', `the path names no step of the catalog, which holds 0 to ${count - 1}`)

const without = (status: 'disabled' | 'not_recorded' | 'missing'): HttpReply => liveJson({ status, files: [] } satisfies StepFiles)

async function inventory(archive: StepArchive, record: string): Promise<HttpReply> {
  const files = await archive.list(record)
  return files === null ? without('missing') : liveJson({ status: 'retained', files } satisfies StepFiles)
}

async function oneFile(archive: StepArchive, record: string, path: string): Promise<HttpReply> {
  const text = await archive.read(record, path)
  if (text !== null) return liveJson({ status: 'retained', path, text } satisfies StepFiles)
  if ((await archive.list(record)) === null) return without('missing')
  throw unknown('unknown_file', 'path: the record of this step lists no such file')
}

export async function progress(context: HttpContext): Promise<HttpReply> {
  const id = context.params['record_id'] ?? ''
  return context.services.registry.use(scenarioOf(context.request), async (scenario) => {
    if ((await scenario.types([id])).get(id) !== 'train') throw unknownRequest(id)
    return liveJson((await scenario.progress(id)) satisfies RequestProgress)
  })
}

/** The steps that run now. Never waits for one. */
export async function running(context: HttpContext): Promise<HttpReply> {
  refuseAgents(context)
  const name = scenarioOf(context.request)
  return context.services.registry.use(name, async (scenario) =>
    liveJson({ scenario: name, steps: [...scenario.running()] } satisfies RunningSteps),
  )
}

/** What a running step has left so far: its episodes with their transcripts. */
export async function runningRecords(context: HttpContext): Promise<HttpReply> {
  refuseAgents(context)
  const { query } = context
  return context.services.registry.use(scenarioOf(context.request), async (scenario) => {
    const { archive } = scenario.binding
    if (archive === undefined) return without('disabled')
    const record = scenario.running().find(({ step_record: name }) => name !== null && name === query.get('step_record'))?.step_record
    if (typeof record !== 'string') return without('not_recorded')
    const path = query.get('path')
    return path === null ? inventory(archive, record) : oneFile(archive, record, path)
  })
}

export const unknownRequest = (id: string): Error =>
  unknown('unknown_request', `no train instruction ${JSON.stringify(id)} is known in this scenario`)

/** A change that an agent proposes. A change that is not admitted is an answer; only a malformed proposal is refused. */
export async function proposals(context: HttpContext): Promise<HttpReply> {
  const { services } = context
  const name = scenarioOf(context.request)
  context.logFields.scenario = name
  const proposal = await context.readObject()
  return services.registry.use(name, async (scenario) => {
    const taken = scenario.binding.proposals
    if (taken === undefined)
      throw unknown('no_proposals', `recipe ${scenario.recipeName} is not a harness evolution recipe and takes no proposals`)
    parseProposal(proposal)
    const head = scenario.head()
    const admission: Admission =
      scenario.trainingMode === 'manual'
        ? refusedInManual(head.release_id)
        : await taken.offer(await services.recorder.keptBody(name, proposal), head, askerOf(context))
    if (admission.admitted)
      await noteChange(context, {
        scenario: name,
        target: admission.proposal_id,
        before: null,
        after: { release_id: admission.release_id },
      })
    return json(admission)
  })
}

/** The recipe does not know the mode, so manual mode is handled here. */
const refusedInManual = (release_id: string): Admission => ({
  proposal_id: newId(),
  admitted: false,
  reason: 'manual mode takes instructions only',
  release_id,
})

export async function adapters({ services }: HttpContext): Promise<HttpReply> {
  return json({ adapters: [...(await services.adapters()).values()].map(describeAdapter) } satisfies AdapterList)
}
