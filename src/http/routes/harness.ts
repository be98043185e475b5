/** The harness routes. */
import * as wire from '../../contract/wire/index.ts'
import type { Handler, HttpRoute } from '../context.ts'
import { rowsOf } from './row.ts'
import { HEADER, PROPOSAL_BODY_BYTES_MAX } from '../../contract/index.ts'
import { answer, live, other } from '../openapi/spec.ts'
import {
  afterRow,
  limit,
  optionalScenario,
  pageScenario,
  provisional,
  query,
  release,
  required,
  scenario,
  tags,
} from '../openapi/parameters.ts'
import { AUDITED, CHECKED_BODY, KNOWN, NAMED, QUERIED, refusals, STRICT_BODY, TAGGED } from '../openapi/refusals.ts'

const { get, post } = rowsOf('harness')

/** Handlers are loaded with the first request for one: a service that only records needs none of them. */
const harness =
  (name: 'manifest' | 'catalog' | 'stepRecords' | 'progress' | 'running' | 'runningRecords' | 'proposals' | 'adapters'): Handler =>
  async (context) =>
    (await import('../handlers/harness.ts'))[name](context)
const pages =
  (name: 'versionPage' | 'requestPage'): Handler =>
  async (context) =>
    (await import('../handlers/pages.ts'))[name](context)
const tasks =
  (name: 'list' | 'show' | 'create' | 'change'): Handler =>
  async (context) =>
    (await import('../handlers/tasks.ts'))[name](context)
const installing =
  (name: 'install' | 'installLine'): Handler =>
  async (context) =>
    (await import('../handlers/install.ts'))[name](context)

const OF_SCENARIO = refusals(NAMED, KNOWN)
const OF_TASKS = refusals(OF_SCENARIO, { 404: ['no_tasks'] })
const OF_FILES = refusals(OF_SCENARIO, { 404: ['no_harness'] })
const PAGE = other('text/html', 'A page for people; nothing on it runs or loads. A refusal is a page too, for clients that prefer HTML.', [
  'cache-control',
])

export const harnessRoutes: readonly HttpRoute[] = [
  get('/svc/harness', harness('manifest'), {
    right: 'pull',
    operationId: 'readHarness',
    summary: 'Answers with the files that an agent pulls',
    description: 'Never waits for a step, and its parts are those of one release.',
    parameters: [scenario, release, provisional, tags],
    answers: { 200: answer(wire.manifestSchema, 'The manifest.', ['cache-control', HEADER.release, HEADER.provisional]) },
    refusals: refusals(OF_FILES, TAGGED, { 400: ['invalid_field'], 404: ['unknown_release'] }),
  }),
  get('/svc/harness/releases', harness('catalog'), {
    right: 'pull',
    operationId: 'listHarnessReleases',
    summary: 'Lists the releases of the files that agents pull, oldest first',
    description: 'All of them, or one page where limit or after_step is given.',
    parameters: [scenario, afterRow, limit],
    answers: { 200: live(wire.catalogSchema, 'One row per step, each with the path of its page.') },
    refusals: refusals(QUERIED, OF_FILES),
  }),
  get('/svc/harness/releases/:step/page', pages('versionPage'), {
    access: 'page',
    right: 'pull',
    operationId: 'showVersionPage',
    summary: 'Shows what a step did, as a page',
    parameters: [pageScenario, optionalScenario],
    answers: { 200: PAGE },
    refusals: refusals(OF_FILES, { 404: ['unknown_step'] }),
  }),
  get('/svc/harness/releases/:step/records', harness('stepRecords'), {
    right: 'read',
    operationId: 'listStepFiles',
    summary: 'Lists the files that a step left, or reads one of them',
    parameters: [scenario, query('path', 'One of the listed files, to read it.')],
    answers: { 200: live(wire.stepFilesSchema, 'The files, the text of one, or why there are none.') },
    refusals: refusals(OF_FILES, { 400: ['bad_path', 'step_files_limit'], 404: ['unknown_step', 'unknown_file'] }),
  }),
  get('/svc/harness/requests/:record_id/page', pages('requestPage'), {
    access: 'page',
    right: 'follow',
    operationId: 'showRequestPage',
    summary: 'Shows the outcome of an instruction, as a page',
    parameters: [pageScenario, optionalScenario],
    answers: { 200: PAGE },
    refusals: refusals(OF_SCENARIO, { 404: ['unknown_request'] }),
  }),
  get('/svc/harness/requests/:record_id/progress', harness('progress'), {
    right: 'follow',
    operationId: 'readProgress',
    summary: 'Reports how far an instruction is',
    parameters: [scenario],
    answers: { 200: live(wire.requestProgressSchema, 'The progress of its step, or the row that settled it.') },
    refusals: refusals(OF_SCENARIO, { 404: ['unknown_request'] }),
  }),
  get('/svc/harness/progress', harness('running'), {
    right: 'read',
    operationId: 'listRunningSteps',
    summary: 'Reports how far the steps are that run now, on requests and on traffic',
    description: 'Episode by episode, with scores, the words of evaluators, tokens and money. Not for the sessions of agents.',
    parameters: [scenario],
    answers: { 200: live(wire.runningStepsSchema, 'One for each trainer that runs a step.') },
    refusals: OF_SCENARIO,
  }),
  get('/svc/harness/progress/records', harness('runningRecords'), {
    right: 'read',
    operationId: 'listRunningStepFiles',
    summary: 'Lists the files that a running step has left so far, or reads one of them',
    parameters: [
      scenario,
      required(query('step_record', 'The record, as the progress of the step names it.')),
      query('path', 'One of the listed files, to read it.'),
    ],
    answers: { 200: live(wire.stepFilesSchema, 'The files, the text of one, or why there are none.') },
    refusals: refusals(OF_SCENARIO, { 400: ['bad_path', 'step_files_limit'], 404: ['unknown_file'] }),
  }),
  get('/svc/harness/tasks', tasks('list'), {
    right: 'read',
    operationId: 'listTasks',
    summary: 'Lists the tasks in evolution.tasks_dir, used or not',
    description: 'Not for the sessions of agents: tasks are held out.',
    parameters: [scenario],
    answers: { 200: live(wire.taskListSchema, 'By name, with role, family, status and what the check found.') },
    refusals: OF_TASKS,
  }),
  post('/svc/harness/tasks', tasks('create'), {
    right: 'review',
    operationId: 'createTask',
    summary: 'Makes a task of a recorded exchange',
    description:
      'Written to evolution.tasks_dir, accepted: steps play it from the next start of the service on. A record becomes a task once.',
    parameters: [scenario],
    body: wire.newTaskSchema,
    answers: { 200: answer(wire.listedTaskSchema, 'The task.') },
    refusals: refusals(OF_TASKS, CHECKED_BODY, AUDITED, {
      400: ['task_invalid', 'mined_invalid', 'not_an_inference'],
      404: ['unknown_record', 'record_expired', 'record_not_kept'],
      409: ['task_exists', 'too_many_tasks'],
      503: ['tasks_unwritable'],
    }),
  }),
  get('/svc/harness/tasks/:task', tasks('show'), {
    right: 'read',
    operationId: 'readTask',
    summary: 'Shows one task',
    parameters: [scenario],
    answers: { 200: live(wire.shownTaskSchema, 'With its prompt and the paths of its files.') },
    refusals: refusals(OF_TASKS, { 400: ['task_invalid', 'mined_invalid'], 404: ['unknown_task'] }),
  }),
  post('/svc/harness/tasks/:task', tasks('change'), {
    right: 'manage',
    operationId: 'changeTask',
    summary: 'Accepts or drops a mined task, or changes the role of a task',
    description: 'Written to the folder of the task. Steps go by it from the next start of the service on.',
    parameters: [scenario],
    body: wire.taskChangeSchema,
    answers: { 200: answer(wire.listedTaskSchema, 'As it is now.') },
    refusals: refusals(OF_TASKS, CHECKED_BODY, AUDITED, { 400: ['task_invalid', 'mined_invalid', 'not_mined'], 404: ['unknown_task'] }),
  }),
  post('/svc/harness/proposals', harness('proposals'), {
    bodyBytesMax: PROPOSAL_BODY_BYTES_MAX,
    right: 'ask',
    operationId: 'sendProposal',
    summary: 'Proposes a change of the harness',
    description: 'Admitted against the head by the rules of a tree; one that may not be made is an answer too. At most 1 MiB of JSON.',
    parameters: [scenario],
    body: wire.proposalBodySchema,
    answers: { 200: answer(wire.admissionSchema, 'Whether it waits for a step now, or the rule that refused it.') },
    refusals: refusals(OF_SCENARIO, STRICT_BODY, AUDITED, {
      400: ['bad_proposal', 'no_entries'],
      404: ['no_proposals'],
      503: ['inbox_failed', 'redaction_failed'],
    }),
  }),
  get('/svc/harness/install', installing('install'), {
    right: 'pull',
    operationId: 'readInstallScript',
    summary: 'Answers with the shell script that installs an agent with its harness',
    description:
      'Without a scenario the script makes one when it runs, of the recipe that serves files for this agent, unless one of this service is installed in that folder; asking makes none. The agent will call its model at the address that the request reached. A refusal is a script too, which says why and exits 1, unless JSON is preferred; so is what fails once the script has begun.',
    parameters: [required(query('adapter', 'The agent, by its name in GET /svc/harness/adapters.')), optionalScenario, release],
    answers: { 200: other('text/x-shellscript', 'The script.', ['cache-control']) },
    refusals: refusals(OF_FILES, {
      400: ['adapter_missing', 'adapter_without_install', 'recipe_unclear', 'model_missing', 'no_binding', 'no_entries'],
      404: ['no_harness_recipe', 'unknown_adapter', 'unknown_release'],
    }),
  }),
  get('/svc/harness/install/line', installing('installLine'), {
    right: 'pull',
    operationId: 'readInstallLine',
    summary: "Answers with the line that installs a scenario's agent, with the fingerprint of the deployment's key",
    parameters: [scenario],
    answers: {
      200: other('text/plain', 'One line for a shell; nothing where the agent of the scenario cannot be installed.', ['cache-control']),
    },
    refusals: OF_SCENARIO,
  }),
  get('/svc/harness/adapters', harness('adapters'), {
    right: null,
    scope: 'any',
    operationId: 'listAdapters',
    summary: 'Lists the agents that can be served',
    answers: { 200: answer(wire.adapterListSchema, 'The built-in ones and those of the configured recipes.') },
    refusals: {},
  }),
]
