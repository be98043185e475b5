/** The tools by which an agent looks at its own harness, tries a change of it, and proposes one. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure, TRIAL_TAG_HEADER, writeTree, ask, field, parseJson, refusalOf, type ServiceEndpoint } from '@svc-ai/client/shared'
import { loadTree } from './load.ts'
import { runTurn } from './run-turn.ts'
import { entriesIn, filesOf, mutated, type TrialEntry } from './trial-tree.ts'
import type { Data } from './tree.ts'
import { sceneOf, type SelfTool, type AgentTurn } from './turn.ts'

/** In the name of a log: no agent can be called so. */
const TRIAL = '~trial'

const MUTATIONS = {
  type: 'array',
  items: { type: 'object' },
  description: 'Changes of the harness, each {op: create|update|remove, id, options: {name: the kind of entry, config}}.',
}

export interface Self {
  readonly service: ServiceEndpoint
  readonly session: string
  readonly releaseId: string
}

export function selfTools(self: Self): readonly SelfTool[] {
  return [
    tool(
      'harness_inspect',
      'Lists the entries of the harness that you run by, or shows one of them.',
      { id: { type: 'string' } },
      [],
      inspect,
    ),
    tool(
      'harness_try',
      'Answers a prompt with a changed copy of your harness, in an empty folder, and tells what came of it. Nothing is kept.',
      { mutations: MUTATIONS, prompt: { type: 'string' } },
      ['mutations', 'prompt'],
      tryOut,
    ),
    tool(
      'harness_propose',
      'Proposes a change of your harness to the service, which evaluates it before anything is published.',
      { mutations: MUTATIONS, reason: { type: 'string' } },
      ['mutations', 'reason'],
      (args) => propose(self, args),
    ),
  ]
}

function tool(name: string, description: string, properties: Data, required: readonly string[], run: SelfTool['run']): SelfTool {
  return { name, description, parameters: { type: 'object', properties, required }, capabilities: [], run }
}

async function inspect({ id }: Data, turn: AgentTurn): Promise<string> {
  const entries = entriesOf(turn)
  if (id === undefined) return entries.map(lineOf).join('\n')
  const entry = entries.find((each) => each.id === id)
  if (entry === undefined) throw new Failure(`there is no entry ${JSON.stringify(id)}; without an id all are listed`)
  return JSON.stringify(entry, null, 2)
}

const lineOf = ({ id, name, disabled }: TrialEntry): string => `${id} (${name})${disabled === true ? ', disabled' : ''}`

function entriesOf({ scene }: AgentTurn): readonly TrialEntry[] {
  try {
    return entriesIn(readFileSync(join(scene.tree.folder, 'tree.json'), 'utf8'))
  } catch (error) {
    if (error instanceof Failure) throw error
    return entriesIn(null)
  }
}

async function tryOut({ mutations, prompt }: Data, turn: AgentTurn): Promise<string> {
  const entries = mutated(entriesOf(turn), Array.isArray(mutations) ? mutations : [])
  const folder = mkdtempSync(join(tmpdir(), 'svc-trial-'))
  try {
    writeTree(folder, { ...filesOf(entries), 'workspace/.keep': '' }, '{"files":[]}\n', null)
    const { scene } = turn
    // The caller keeps the receipts of answers; a trial is not reported.
    const { onAnswer: _, ...place } = scene.model
    const model = { ...place, headers: { ...place.headers, [TRIAL_TAG_HEADER]: '1' } }
    const parts = { tree: loadTree(join(folder, 'native')), model, workdir: join(folder, 'workspace'), signal: scene.signal }
    const { reason, text, message } = await runTurn(sceneOf(parts), turn.log.forAgent(TRIAL), [], String(prompt))
    return `${reason}${message === null ? '' : `: ${message}`}\n\n${text}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function propose({ service, session, releaseId }: Self, { mutations, reason }: Data): Promise<string> {
  const body = JSON.stringify({ mutations, reason, session, release_id: releaseId })
  const answer = await ask(service, { method: 'POST', path: '/svc/harness/proposals', body })
  if (answer.status !== 200) throw refusalOf(service, answer)
  const said = parseJson(answer.text)
  if (field(said, 'admitted') === true) return `proposal ${String(field(said, 'proposal_id'))} waits for its evaluation`
  throw new Failure(`the proposal was refused: ${String(field(said, 'reason'))}`)
}
