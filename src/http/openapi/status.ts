/** The routes that tell how the service is, described. */
import * as answers from './answers.ts'
import { answer, live, other, type Descriptions } from './description.ts'
import { READING } from './refusals.ts'

export const statusDescriptions: Descriptions = {
  'GET /healthz': {
    operationId: 'checkHealth',
    tag: 'service',
    summary: 'Says that the service is ready',
    description: 'The one route that needs no token.',
    answers: {
      200: live(answers.health, 'It is.'),
      503: live(answers.notReady, 'The record store refuses writes: nothing can be kept. The status says why.'),
    },
    refusals: {},
  },
  'GET /svc/status': {
    operationId: 'readStatus',
    tag: 'service',
    summary: 'Tells how serving, training and storage stand',
    answers: { 200: live(answers.status, 'As it is now.') },
    refusals: READING,
  },
  'GET /metrics': {
    operationId: 'readMetrics',
    tag: 'service',
    summary: "Answers with numbers for a monitor, in Prometheus' text format",
    answers: { 200: other('text/plain', 'One line a number.') },
    refusals: READING,
  },
  'GET /openapi.json': {
    operationId: 'readOpenApi',
    tag: 'service',
    summary: 'Answers with this description of every route',
    answers: { 200: answer(answers.openApi, 'An OpenAPI 3.1 document.') },
    refusals: {},
  },
}
