/** The service as an object: each route that a client needs is a method, typed after the interface. Runs on Node 20 and newer. */
import { ServiceFailure } from './failure.ts'
import { BATCH_ROUTE } from './names.ts'
import * as nouns from './nouns.ts'
import type * as wire from './wire.generated.ts'
import { scenarioProblem, tokenProblem, urlProblem, withoutSlash } from './place.ts'
import { ask, parseJson, refusalOf, type ServiceResponse, type ServiceEndpoint, type ServiceRequest } from './transport.ts'

export interface Address {
  /** Where the service answers, without a route. */
  readonly url: string
  /** Needed by everything but `status`, `fleet`, `scenarios`, `createScenario`, `health`, `text`, `configuration`, and what is about tokens, sign-ins and the audit. */
  readonly scenario?: string | null
  readonly token?: string | null
  /** How long one answer may take, to its last byte. */
  readonly timeoutSeconds?: number
  /** Takes the provisional release, which is unproven, where there is one. */
  readonly provisional?: boolean
}

/** Every method throws a `ServiceFailure` and nothing else; none tries again by itself. */
export interface Svc {
  report(report: wire.ReportBody): Promise<wire.Receipt>
  train(request: wire.TrainBody): Promise<wire.TrainReceipt>
  /** One batch: stored whole or not at all, at most 1000 records and 10 MiB. The receipts come in the order sent. */
  importRecords(envelopes: readonly wire.ImportBody[]): Promise<readonly wire.Receipt[]>
  /** The tree that is served, or that of the release named, held ones included. */
  manifest(releaseId?: string): Promise<wire.Manifest>
  /** Every release of the scenario, newest first, read a page at a time. */
  releases(): Promise<readonly wire.ReleaseRow[]>
  releasePage(query?: nouns.ReleaseQuery): Promise<nouns.ReleasePage>
  /** The releases of the tree that clients pull, oldest first, each with its page. A row's endpoint in it is the number its page goes by. */
  catalog(): Promise<readonly wire.CatalogRow[]>
  catalogPage(query?: nouns.CatalogQuery): Promise<nouns.ReleasePage<wire.CatalogRow>>
  progress(requestId: string): Promise<wire.RequestProgress>
  /** The steps that run now, on requests and on traffic. */
  running(): Promise<readonly wire.StepProgress[]>
  /** The tasks that candidates are measured by, used or not. */
  tasks(): Promise<readonly wire.ListedTask[]>
  task(name: string): Promise<wire.ShownTask>
  /** Makes a task of a recorded exchange. */
  createTask(task: wire.NewTask): Promise<wire.ListedTask>
  changeTask(name: string, change: wire.TaskChange): Promise<wire.ListedTask>
  /** What was stored, oldest first unless the newest are asked for. */
  records(query?: nouns.RecordQuery): Promise<nouns.PageOfRecords>
  /** What was stored that fits, newest first. */
  search(query?: nouns.RecordSearchQuery): Promise<nouns.FoundPage>
  record(id: string): Promise<wire.FullRecord>
  /** The comment is why, in the words of a person. */
  promote(releaseId: string, comment?: string): Promise<wire.Head>
  rollback(releaseId: string, comment?: string): Promise<wire.Head>
  /** Ends the provisional release. Answers the head, which stays. */
  withdraw(releaseId: string, comment?: string): Promise<wire.Head>
  /** Rejects a release that was held for review. Answers the head, which stays. */
  reject(releaseId: string, reason: string): Promise<wire.Head>
  /** Of a release that is or was held for review. */
  comment(releaseId: string, comment: string): Promise<wire.Head>
  /** Asks the scenario's model as one would ask the provider at this path, such as `/v1/messages`. Nothing is stored. */
  evaluate(path: string, body: object): Promise<Readonly<Record<string, unknown>>>
  status(): Promise<nouns.StatusReport>
  /** Workers on other machines, and the episodes that they play. */
  fleet(): Promise<wire.Fleet>
  scenarios(): Promise<readonly wire.ScenarioRow[]>
  /** Makes a scenario of that name, or answers with the one there is. Without a recipe, the default one. */
  createScenario(name: string, recipe?: string): Promise<wire.CreatedScenario>
  /** Changes the training mode or the model settings; a model of null goes back to those of the deployment. */
  updateScenario(changes: wire.UpdateScenarioBody): Promise<wire.UpdatedScenario>
  /** Sets the scenario aside with its records and releases, and frees its name. */
  archiveScenario(): Promise<wire.ArchivedScenario>
  /** The settings as the service read them, without secrets. */
  configuration(): Promise<wire.Configuration>
  /** The tokens that were made, without their secrets. */
  tokens(): Promise<readonly wire.ListedToken[]>
  /** The secret is answered this once. */
  createToken(token: wire.CreateTokenBody): Promise<wire.NewToken>
  /** Without days it lives as long again as it was given before. */
  rotateToken(name: string, expiresInDays?: number): Promise<wire.NewToken>
  /** In place of the limits that it was given before. What is left out is as the configuration says. */
  limitToken(name: string, limits: wire.TokenLimits): Promise<wire.TokenRow>
  revokeToken(name: string): Promise<void>
  /** Has sent again what targets of webhooks refused. Answers how many events there are. */
  retryWebhooks(): Promise<number>
  /** Whose requests these are. */
  caller(): Promise<wire.Caller>
  /** How people sign in with accounts of their own; null where tokens alone count. Needs no token. */
  signInOffer(): Promise<wire.SignInOffer['sign_in']>
  /** Ends the sign-in of the person whose browser this is. */
  signOut(): Promise<void>
  /** Removes a person's records by their tag, or counts them; answers when every place was looked at, which may take long. */
  forget(body: wire.ForgetBody): Promise<wire.ForgottenPerson>
  /** Who changed what, oldest first unless the newest are asked for. */
  audit(query?: nouns.AuditQuery): Promise<nouns.PageOfAudit>
  health(): Promise<{ readonly ok: boolean }>
  /** A page or the install script as it is, whole: an answer that breaks off is a failure, never half a text. */
  text(path: string, query?: Readonly<Record<string, string>>): Promise<string>
}

const TIMEOUT_SECONDS = 60
const TASKS = '/svc/harness/tasks'
const TOKENS = '/svc/tokens'
const SIGN_IN = '/svc/sign-in'

export function connect(address: Address): Svc {
  const endpoint = endpointOf(address)
  const get = <T>(path: string, isShape: Shape<T>): Promise<T> => call(endpoint, { method: 'GET', path }, isShape)
  const post = <T>(path: string, body: unknown, isShape: Shape<T>): Promise<T> =>
    call(endpoint, { method: 'POST', path, body: JSON.stringify(body) }, isShape)
  const own = <T>(then: (name: string) => Promise<T>): Promise<T> => inScenario(endpoint, then)
  const move = (
    operation: 'promote' | 'rollback' | 'withdraw' | 'reject' | 'comment',
    releaseId: string,
    words: object = {},
  ): Promise<wire.Head> => own((name) => post(`${scenarioPath(name)}/${operation}`, { release_id: releaseId, ...words }, nouns.isHead))
  const releasePage = (query: nouns.ReleaseQuery = {}): Promise<nouns.ReleasePage> =>
    own(async (name) => pageOf(await get(`${scenarioPath(name)}/releases${pageQuery(query)}`, nouns.isReleases)))
  const catalogPage = (query: nouns.CatalogQuery = {}): Promise<nouns.ReleasePage<wire.CatalogRow>> =>
    own(async () => pageOf(await get(`/svc/harness/releases${pageQuery(query)}`, nouns.isCatalog)))
  return {
    report: (report) => own(() => post('/svc/report', report, nouns.isReceipt)),
    train: (request) => own(() => post('/svc/train', request, nouns.isTrainReceipt)),
    importRecords: (records) => own(async () => (await post(BATCH_ROUTE, { records }, nouns.isReceipts)).records),
    manifest: (releaseId) =>
      own(() => get(`/svc/harness${queryOf(releaseId === undefined ? {} : { release_id: releaseId })}`, nouns.isManifest)),
    releases: async () => oneCurrent(await everyPage((before) => releasePage(before === null ? {} : { before_step: before }))),
    releasePage,
    catalog: async () => {
      const rows = await everyPage((after) => catalogPage(after === null ? {} : { after_step: after }))
      return oneCurrent(rows.toReversed()).toReversed()
    },
    catalogPage,
    progress: (requestId) => own(() => get(`/svc/harness/requests/${encodeURIComponent(requestId)}/progress`, nouns.isProgress)),
    running: () => own(async () => (await get('/svc/harness/progress', nouns.isRunning)).steps),
    tasks: () => own(async () => (await get(TASKS, nouns.isTasks)).tasks),
    task: (name) => own(() => get(`${TASKS}/${encodeURIComponent(name)}`, nouns.isShownTask)),
    createTask: (task) => own(() => post(TASKS, task, nouns.isListedTask)),
    changeTask: (name, change) => own(() => post(`${TASKS}/${encodeURIComponent(name)}`, change, nouns.isListedTask)),
    records: (query = {}) => own((name) => recordPage(get, `${scenarioPath(name)}/records`, query)),
    search: (query = {}) =>
      own(async (name) => foundPage(await get(`${scenarioPath(name)}/search${repeatedQuery(query)}`, nouns.isFound), query)),
    record: (id) => own((name) => get(`${scenarioPath(name)}/records/${encodeURIComponent(id)}`, nouns.isFullRecord)),
    promote: (releaseId, comment) => move('promote', releaseId, { comment }),
    rollback: (releaseId, comment) => move('rollback', releaseId, { comment }),
    withdraw: (releaseId, comment) => move('withdraw', releaseId, { comment }),
    reject: (releaseId, reason) => move('reject', releaseId, { reason }),
    comment: (releaseId, comment) => move('comment', releaseId, { comment }),
    evaluate: (path, body) => own((name) => post(`${scenarioPath(name)}/evaluation${path}`, body, nouns.isData)),
    status: () => get('/svc/status', nouns.isStatus),
    fleet: () => get('/svc/fleet', nouns.isFleet),
    scenarios: async () => (await get('/svc/scenarios', nouns.isScenarios)).scenarios,
    createScenario: (name, recipe) => post('/svc/scenarios', { name, ...(recipe !== undefined && { recipe }) }, nouns.isCreated),
    updateScenario: (changes) => own((name) => post(`${scenarioPath(name)}/update`, changes, nouns.isUpdated)),
    archiveScenario: () => own((name) => call(endpoint, { method: 'DELETE', path: scenarioPath(name) }, nouns.isArchived)),
    configuration: () => get('/svc/configuration', nouns.isConfiguration),
    tokens: async () => (await get(TOKENS, nouns.isTokens)).tokens,
    createToken: (token) => post(TOKENS, token, nouns.isNewToken),
    rotateToken: (name, days) => post(`${tokenPath(name)}/rotate`, days === undefined ? {} : { expires_in_days: days }, nouns.isNewToken),
    limitToken: (name, limits) => post(`${tokenPath(name)}/limits`, limits, nouns.isTokenRow),
    retryWebhooks: async () => (await post('/svc/webhooks/retry', {}, nouns.isSentAgain)).set_aside,
    revokeToken: async (name) => void (await call(endpoint, { method: 'DELETE', path: tokenPath(name) }, nouns.isRevoked)),
    caller: () => get('/svc/caller', nouns.isCaller),
    signInOffer: async () => (await get(SIGN_IN, nouns.isSignInOffer)).sign_in,
    signOut: async () => void (await succeed(endpoint, { method: 'DELETE', path: SIGN_IN })),
    forget: (body) => post('/svc/forget', body, nouns.isForgotten),
    audit: (query = {}) => auditPage(get, query),
    health: () => readiness(endpoint),
    text: async (path, query = {}) => (await succeed(endpoint, { method: 'GET', path: path + queryOf(query) })).text,
  }
}

function endpointOf({ url, scenario, token, timeoutSeconds = TIMEOUT_SECONDS, provisional = false }: Address): ServiceEndpoint {
  const [name, pass] = [textOrNull(scenario), textOrNull(token)]
  const problem =
    saying('url', urlProblem(url)) ??
    saying('scenario', name === null ? null : scenarioProblem(name)) ??
    saying('token', pass === null ? null : tokenProblem(pass))
  if (problem !== null) throw new ServiceFailure(problem, { code: 'bad_place' })
  return { url: withoutSlash(url), scenario: name, token: pass, timeoutSeconds, provisional }
}

const textOrNull = (text: string | null | undefined): string | null => (text?.trim() ?? '') || null

const saying = (field: string, problem: string | null): string | null => (problem === null ? null : `${field} ${problem}`)

/** Asked for inside the promise, so that a missing name fails like everything else does. */
async function inScenario<T>({ scenario }: ServiceEndpoint, then: (name: string) => Promise<T>): Promise<T> {
  if (scenario === null) throw new ServiceFailure('no scenario is named: give connect() a scenario', { code: 'bad_place' })
  return then(scenario)
}

const scenarioPath = (name: string): string => `/svc/scenarios/${encodeURIComponent(name)}`

const tokenPath = (name: string): string => `${TOKENS}/${encodeURIComponent(name)}`

const queryOf = (query: Readonly<Record<string, string>>): string => {
  const text = new URLSearchParams(query).toString()
  return text === '' ? '' : `?${text}`
}

const PAGE_ROWS = 100

const pageQuery = (query: nouns.ReleaseQuery & nouns.CatalogQuery): string =>
  queryOf(Object.fromEntries(Object.entries({ limit: PAGE_ROWS, ...query }).map(([name, value]) => [name, String(value)])))

/** A service that knows no pages answers with everything. */
function pageOf<Row>({ releases, next_before_step: before, next_after_step: after }: nouns.ReleaseAnswer<Row>): nouns.ReleasePage<Row> {
  return { releases, next: releases.length === 0 ? null : (before ?? after ?? null) }
}

async function everyPage<Row>(read: (from: number | null) => Promise<nouns.ReleasePage<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let from: number | null = null; ;) {
    const { releases, next }: nouns.ReleasePage<Row> = await read(from)
    rows.push(...releases)
    if (next === null || next === from) return rows
    from = next
  }
}

/** Newest first. What was published between two pages is served from then on: of the rows that say they are served, the newest is. */
function oneCurrent<Row extends wire.ReleaseRow>(rows: readonly Row[]): Row[] {
  const served = rows.findIndex(({ current }) => current)
  return rows.map((row, at) => (row.current && at !== served ? { ...row, current: false } : row))
}

type Get = <T>(path: string, isShape: Shape<T>) => Promise<T>

async function recordPage(get: Get, path: string, query: nouns.RecordQuery): Promise<nouns.PageOfRecords> {
  const answer = await get(path + sequenceQuery(query), nouns.isRecords)
  return { records: answer.records, next: nextOf(answer.records, answer) }
}

async function auditPage(get: Get, query: nouns.AuditQuery): Promise<nouns.PageOfAudit> {
  const answer = await get(`/svc/audit${sequenceQuery(query)}`, nouns.isAudit)
  return { audit: answer.audit, next: nextOf(answer.audit, answer) }
}

const sequenceQuery = (query: nouns.RecordQuery | nouns.AuditQuery): string =>
  queryOf(Object.fromEntries(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])))

/** Nothing follows a page without a row, whatever it says: a caller that reads every page would never end. */
const nextOf = (
  rows: readonly unknown[],
  { next_after_sequence: after, next_before_sequence: before }: Pick<wire.AuditList, 'next_after_sequence' | 'next_before_sequence'>,
): number | null => (rows.length === 0 ? null : (after ?? before ?? null))

function repeatedQuery(query: nouns.RecordSearchQuery): string {
  const words = Object.entries(query).flatMap(([name, value]): [string, string][] => [value].flat().map((each) => [name, String(each)]))
  return words.length === 0 ? '' : `?${new URLSearchParams(words).toString()}`
}

/** A page that does not lead back would never end. */
function foundPage(
  { records, next_before_sequence: next, waiting }: wire.FoundRecordList,
  { before_sequence: before = Infinity }: nouns.RecordSearchQuery,
): nouns.FoundPage {
  return { records, next: next !== null && next < before ? next : null, waiting }
}

/** A service that is not ready says so with 503, in the same words. */
async function readiness(endpoint: ServiceEndpoint): Promise<{ readonly ok: boolean }> {
  const request: ServiceRequest = { method: 'GET', path: '/healthz' }
  const answer = await ask(endpoint, request)
  const value = answer.status === 503 ? parseJson(answer.text) : null
  return nouns.isHealth(value) ? value : shapeOf(endpoint, request, accepted(endpoint, answer), nouns.isHealth)
}

type Shape<T> = (value: unknown) => value is T

async function call<T>(endpoint: ServiceEndpoint, request: ServiceRequest, isShape: Shape<T>): Promise<T> {
  return shapeOf(endpoint, request, await succeed(endpoint, request), isShape)
}

function shapeOf<T>(endpoint: ServiceEndpoint, request: ServiceRequest, { status, text }: ServiceResponse, isShape: Shape<T>): T {
  const value = parseJson(text)
  if (isShape(value)) return value
  const problem = `the answer to ${request.path} is not this service's: is ${endpoint.url} the address of the service itself?`
  throw new ServiceFailure(problem, { status, code: 'unexpected_answer' })
}

async function succeed(endpoint: ServiceEndpoint, request: ServiceRequest): Promise<ServiceResponse> {
  return accepted(endpoint, await ask(endpoint, request))
}

function accepted(endpoint: ServiceEndpoint, answer: ServiceResponse): ServiceResponse {
  if (answer.status >= 200 && answer.status < 300) return answer
  throw refusalOf(endpoint, answer)
}
