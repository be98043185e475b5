/** The routes of the service itself: health, status, metrics, and the description of every route. */
import { SMALL_BODY_BYTES_MAX } from '../../contract/index.ts'
import * as wire from '../../contract/wire/index.ts'
import type { HttpRoute } from '../context.ts'
import { openApi } from '../openapi/document.ts'
import { CHECKED_BODY, READING, refusals, WRITING } from '../openapi/refusals.ts'
import { answer, live, other } from '../openapi/spec.ts'
import * as status from '../handlers/status.ts'
import { rowsOf } from './row.ts'

const { get, post } = rowsOf('service')

export const healthRoute: HttpRoute = get('/healthz', status.health, {
  access: 'open',
  right: null,
  scope: 'any',
  operationId: 'checkHealth',
  summary: 'Says that the service is ready',
  description: 'Needs no token.',
  answers: {
    200: live(wire.healthSchema, 'It is ready.'),
    503: live(wire.notReadySchema, 'The record store refuses writes: nothing can be kept. The status says why.'),
  },
  refusals: {},
})

/** The document describes the whole table, which is handed in when it is complete. */
export const serviceRoutes = (all: () => readonly HttpRoute[]): readonly HttpRoute[] => [
  get('/svc/status', status.status, {
    right: 'read',
    operationId: 'readStatus',
    summary: 'Reports the state of serving, training and storage',
    answers: { 200: live(wire.serviceStatusSchema, 'As it is now.') },
    refusals: READING,
  }),
  get('/svc/configuration', status.configuration, {
    right: 'manage',
    operationId: 'readConfiguration',
    summary: 'Reports the settings as the service read them, and the recipes that scenarios may be made with',
    answers: { 200: live(wire.configurationSchema, 'Without secrets.') },
    refusals: {},
  }),
  post('/svc/webhooks/retry', status.retryWebhooks, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'manage',
    operationId: 'retryWebhooks',
    summary: 'Sends again at once the events that targets of webhooks refused again and again',
    description: 'Where another service over the same store delivers, it does so within seconds.',
    body: wire.retryWebhooksBodySchema,
    answers: { 200: answer(wire.sentAgainSchema, 'How many there are.') },
    refusals: refusals(CHECKED_BODY, WRITING, { 404: ['no_webhooks'] }),
  }),
  get('/metrics', status.metrics, {
    right: 'read',
    operationId: 'readMetrics',
    summary: "Answers with numbers for a monitor, in Prometheus' text format",
    answers: { 200: other('text/plain', 'One line a number.') },
    refusals: READING,
  }),
  get('/openapi.json', openApi(all), {
    right: null,
    scope: 'any',
    operationId: 'readOpenApi',
    summary: 'Answers with this description of every route',
    answers: { 200: answer(wire.openApiSchema, 'An OpenAPI 3.1 document.') },
    refusals: {},
  }),
]
