/** Every route: its access, its body limit and its handler. This file holds nothing else. */
import {
  BODY_BYTES_MAX,
  IMPORT_BODY_BYTES_MAX,
  PROPOSAL_BODY_BYTES_MAX,
  REPORT_BODY_BYTES_MAX,
  SMALL_BODY_BYTES_MAX,
} from '../contract/index.ts'
import { dialects } from '../dialects/index.ts'
import * as console from './console.ts'
import * as harness from './harness.ts'
import * as inference from './inference.ts'
import { install } from './install.ts'
import * as multimodal from './multimodal.ts'
import { openApi } from './openapi/document.ts'
import * as pages from './pages.ts'
import type { Handler, HttpRoute, LineHandler } from './context.ts'
import * as records from './records.ts'
import * as releases from './releases.ts'
import * as scenarios from './scenarios.ts'
import * as status from './status.ts'

type Extra = Partial<Pick<HttpRoute, 'access' | 'bodyBytesMax'>>

const get = (path: string, plain: Handler, extra: Extra = {}): HttpRoute => row('GET', path, { plain }, extra)
const post = (path: string, plain: Handler, extra: Extra = {}): HttpRoute => row('POST', path, { plain }, extra)
const line = (path: string, handler: LineHandler, extra: Extra = {}): HttpRoute => row('POST', path, { line: handler }, extra)

function row(method: HttpRoute['method'], path: string, run: HttpRoute['run'], extra: Extra): HttpRoute {
  return { method, path, run, access: 'service', bodyBytesMax: BODY_BYTES_MAX, ...extra }
}

const imported: Extra = { bodyBytesMax: IMPORT_BODY_BYTES_MAX }
const reported: Extra = { bodyBytesMax: REPORT_BODY_BYTES_MAX }
const proposed: Extra = { bodyBytesMax: PROPOSAL_BODY_BYTES_MAX }
const small: Extra = { bodyBytesMax: SMALL_BODY_BYTES_MAX }
const evaluated: Extra = { access: 'evaluation' }
const page: Extra = { access: 'page' }
const open: Extra = { access: 'open' }

export const routes: readonly HttpRoute[] = [
  get('/healthz', status.health, open),

  ...Object.values(dialects).flatMap(({ name, path }) => [
    line(path, inference.traffic(name)),
    line(`/svc/scenarios/:scenario/evaluation${path}`, inference.evaluation(name), evaluated),
    line(`/svc/scenarios/:scenario/components/:component/evaluation${path}`, inference.evaluation(name), evaluated),
  ]),
  get('/v1/responses', inference.refuseWebSocket),
  get('/v1/models', inference.models),

  post('/v1/images', multimodal.relay('images')),
  post('/v1/embeddings', multimodal.relay('embeddings')),
  post('/v1/audio/speech', multimodal.relay('audio/speech')),
  post('/v1/decisions', multimodal.relay('decisions')),

  post('/svc/records', records.importOne, imported),
  post('/svc/records/batch', records.importBatch, imported),
  post('/svc/report', records.report, reported),
  post('/svc/train', records.train, small),

  get('/svc/scenarios', scenarios.list),
  post('/svc/scenarios', scenarios.create, small),
  post('/svc/scenarios/:scenario/update', scenarios.update, small),
  get('/svc/scenarios/:scenario/contract', scenarios.contract),
  row('DELETE', '/svc/scenarios/:scenario', { plain: scenarios.remove }, {}),
  get('/svc/scenarios/:scenario/records', records.list),
  get('/svc/scenarios/:scenario/records/:record_id', records.read),
  get('/svc/scenarios/:scenario/commits', releases.commits),
  get('/svc/scenarios/:scenario/releases', releases.list),
  post('/svc/scenarios/:scenario/rollback', releases.rollback, small),
  post('/svc/scenarios/:scenario/promote', releases.promote, small),

  get('/svc/harness', harness.manifest),
  get('/svc/harness/releases', harness.catalog),
  get('/svc/harness/releases/:step/page', pages.versionPage, page),
  get('/svc/harness/releases/:step/records', harness.stepRecords),
  get('/svc/harness/requests/:record_id/page', pages.requestPage, page),
  get('/svc/harness/requests/:record_id/progress', harness.progress),
  post('/svc/harness/proposals', harness.proposals, proposed),
  get('/svc/harness/install', install),
  get('/svc/harness/adapters', harness.adapters),

  get('/console', console.page, open),
  get('/console/', console.page, open),
  get('/console/:file', console.file, open),

  get('/svc/status', status.status),
  get('/metrics', status.metrics),
  // The document describes the whole table, this row included.
  get(
    '/openapi.json',
    openApi(() => routes),
  ),
]
