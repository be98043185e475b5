/** The routes of scenarios. */
import { SMALL_BODY_BYTES_MAX } from '../../contract/index.ts'
import * as wire from '../../contract/wire/index.ts'
import type { HttpRoute } from '../context.ts'
import * as scenarios from '../handlers/scenarios.ts'
import { rowsOf } from './row.ts'
import { answer, live } from '../openapi/spec.ts'
import { AUDITED, CHECKED_BODY, CREATED, KNOWN, MODEL_SETTINGS, READING, refusals } from '../openapi/refusals.ts'

const { del, get, post } = rowsOf('scenarios')

export const scenarioRoutes: readonly HttpRoute[] = [
  get('/svc/scenarios', scenarios.list, {
    right: 'read',
    scope: 'any',
    operationId: 'listScenarios',
    summary: 'Lists every scenario',
    answers: { 200: answer(wire.scenarioListSchema, 'All of them, sorted by name.') },
    refusals: READING,
  }),
  post('/svc/scenarios', scenarios.create, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'manage',
    operationId: 'createScenario',
    summary: 'Creates a scenario, or answers with the one that exists',
    description: 'An existing scenario keeps its model settings, and those sent are ignored. A recipe is fixed at creation.',
    body: wire.createScenarioBodySchema,
    answers: { 200: answer(wire.createdScenarioSchema, 'It existed.'), 201: answer(wire.createdScenarioSchema, 'It is new.') },
    refusals: refusals(CHECKED_BODY, MODEL_SETTINGS, CREATED, AUDITED, {
      400: ['bad_scenario_name', 'unknown_recipe'],
      409: ['other_recipe'],
    }),
  }),
  post('/svc/scenarios/:scenario/update', scenarios.update, {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'manage',
    operationId: 'updateScenario',
    summary: 'Changes the training mode, the model settings, budgets or the rollout, all of it or nothing',
    description:
      'Model settings are replaced as a whole; null restores those of the deployment. The mode is not kept over a restart. Budgets and rollout are changed one by one, kept, and count from the next step on.',
    body: wire.updateScenarioBodySchema,
    answers: { 200: answer(wire.updatedScenarioSchema, 'The settings now; the model and evolution when they were sent.') },
    refusals: refusals(CHECKED_BODY, MODEL_SETTINGS, KNOWN, AUDITED, { 501: ['unsupported_mode', 'unsupported_setting'] }),
  }),
  get('/svc/scenarios/:scenario/contract', scenarios.contract, {
    right: 'read',
    operationId: 'readContract',
    summary: 'Reports what the recipe of a scenario collects',
    answers: { 200: live(wire.scenarioContractSchema, 'What its processor collects, and its status.') },
    refusals: KNOWN,
  }),
  del('/svc/scenarios/:scenario', scenarios.remove, {
    right: 'manage',
    operationId: 'archiveScenario',
    summary: 'Archives a scenario and frees its name; nothing is destroyed',
    answers: { 200: answer(wire.archivedScenarioSchema, 'Where its records and its ref are now.') },
    refusals: refusals(KNOWN, AUDITED, { 409: ['job_out'], 501: ['remote_repository'] }),
  }),
]
