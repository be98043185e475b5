/** The routes of scenarios, described. */
import * as answers from './answers.ts'
import * as bodies from './bodies.ts'
import { answer, live, type Descriptions } from './description.ts'
import { CHECKED_BODY, CREATED, KNOWN, READING, refusals, WRITING } from './refusals.ts'

export const scenarioDescriptions: Descriptions = {
  'GET /svc/scenarios': {
    operationId: 'listScenarios',
    tag: 'scenarios',
    summary: 'Lists every scenario',
    answers: { 200: answer(answers.scenarios, 'All of them, sorted by name.') },
    refusals: READING,
  },
  'POST /svc/scenarios': {
    operationId: 'createScenario',
    tag: 'scenarios',
    summary: 'Creates a scenario, or answers with the one that exists',
    description: 'An existing scenario keeps its model settings, and those sent are not looked at. A recipe is fixed at creation.',
    body: bodies.creationBody,
    answers: { 200: answer(answers.createdScenario, 'It existed.'), 201: answer(answers.createdScenario, 'It is new.') },
    refusals: refusals(CHECKED_BODY, CREATED, { 400: ['bad_scenario_name', 'unknown_recipe'], 409: ['other_recipe'] }),
  },
  'POST /svc/scenarios/:scenario/update': {
    operationId: 'updateScenario',
    tag: 'scenarios',
    summary: 'Changes the training mode or the model settings, all of it or nothing',
    description: 'Model settings are replaced as a whole; null restores those of the deployment. The mode is not kept over a restart.',
    body: bodies.changeBody,
    answers: { 200: answer(answers.updatedScenario, 'What is in force now; the model where it was sent.') },
    refusals: refusals(CHECKED_BODY, KNOWN, { 501: ['unsupported_mode'] }),
  },
  'GET /svc/scenarios/:scenario/contract': {
    operationId: 'readContract',
    tag: 'scenarios',
    summary: 'Tells what the recipe of a scenario collects',
    answers: { 200: live(answers.contract, 'What its processor collects, and how it stands.') },
    refusals: KNOWN,
  },
  'DELETE /svc/scenarios/:scenario': {
    operationId: 'archiveScenario',
    tag: 'scenarios',
    summary: 'Archives a scenario and frees its name; nothing is destroyed',
    answers: { 200: answer(answers.archivedScenario, 'Where its records and its ref went.') },
    refusals: refusals(KNOWN, WRITING, { 409: ['job_out'], 501: ['remote_repository'] }),
  },
}
