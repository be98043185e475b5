/** The commands that a person gives: one turn in a folder, and those for the resident agent of a folder. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { hiddenAsJson, showHidden, showHiddenLine } from '@svc-ai/client/hidden'
import { Failure, UsageError, noArgument, onlyArgument, readArguments, field } from '@svc-ai/client/shared'
import { TurnEnded, type EndReason, type ErrorCode } from './ended.ts'
import { loadTree } from './load.ts'
import { fetchRelease, mount, nameOf } from './mount.ts'
import { placesIn, serviceIn } from './places.ts'
import { runTurn, type TurnEnd } from './run-turn.ts'
import { openLog, redactor, sessionName } from './session-log.ts'
import { askResident, isServed } from './socket.ts'
import type { Data } from './tree.ts'
import { boundModel, sceneOf } from './turn.ts'

const FOLDER_VARIABLE = 'SVC_NATIVE_DIR'
const NOT_COMPLETED = 3

/** `svc-native -p`: one turn in the folder it is started in; the answer on the standard output, and nothing else there. */
export async function oneTurn([prompt, ...rest]: readonly string[], signal: AbortSignal): Promise<number> {
  if (prompt === undefined || prompt.trim() === '') throw new UsageError('say what to do, in quotes, after -p')
  if (rest.length > 0) throw new UsageError('the prompt must be one word: put it in quotes')
  const folder = process.env[FOLDER_VARIABLE]?.trim() ?? ''
  if (folder === '') throw new Failure(`${FOLDER_VARIABLE} is not set: it names the folder native of a harness`)
  return tellEnd(await turnIn(folder, prompt, signal))
}

async function turnIn(folder: string, prompt: string, signal: AbortSignal): Promise<TurnEnd> {
  const tree = loaded(() => loadTree(folder))
  const model = loaded(() => boundModel(tree))
  const name = sessionName(randomBytes(4).toString('hex'))
  const log = openLog({ folder: join(tree.folder, 'sessions'), name, redact: redactor(model.apiKey) })
  return runTurn(sceneOf({ tree, model, workdir: process.cwd(), signal }), log, [], prompt)
}

function loaded<T>(load: () => T): T {
  try {
    return load()
  } catch (error) {
    if (error instanceof TurnEnded) throw new Failure(error.message)
    throw error
  }
}

/** 0 when it is completed, 1 for an error, 3 for any other end. */
function tellEnd({ reason, text, code, message }: TurnEnd): number {
  // A program gets the answer as it is; on a terminal it must not give orders.
  const answer = process.stdout.isTTY ? showHidden(text) : text
  if (answer !== '') process.stdout.write(answer.endsWith('\n') ? answer : `${answer}\n`)
  if (reason === 'completed') return 0
  const words = showHiddenLine((message ?? '').replaceAll(/\s+/g, ' ').trim())
  process.stderr.write(`svc-native: ${code ?? reason}${words === '' ? '' : `: ${words}`}\n`)
  return reason === 'error' ? 1 : NOT_COMPLETED
}

const TREE = { tree: { type: 'string', default: '.' } } as const

export async function turnCommand(args: readonly string[]): Promise<number> {
  const { words, prompt } = withoutPrompt(args)
  const { values, positionals } = readArguments(words, { ...TREE, session: { type: 'string' }, quiet: { type: 'boolean', default: false } })
  noArgument(positionals)
  if (prompt.trim() === '') throw new UsageError('say what to do, in quotes, after -p')
  const { socket } = placesIn(values.tree)
  const request = { type: 'turn', prompt, workdir: process.cwd(), ...(values.session !== undefined && { session: values.session }) }
  const end = await askResident(socket, request, values.quiet ? undefined : tellEvent)
  if (!values.quiet) process.stderr.write(`${showHiddenLine(`session ${String(end['session'])}, release ${String(end['release_id'])}`)}\n`)
  return tellEnd(endOf(end))
}

/** The word after -p is the prompt whatever it begins with. */
function withoutPrompt(args: readonly string[]): { readonly words: string[]; readonly prompt: string } {
  const at = args.indexOf('-p')
  if (at < 0) return { words: [...args], prompt: '' }
  return { words: [...args.slice(0, at), ...args.slice(at + 2)], prompt: args[at + 1] ?? '' }
}

const LINE_CHARACTERS_MAX = 200

function tellEvent({ event, data }: Data): void {
  const line = event === 'tool/call' ? `${String(field(data, 'tool'))} ${JSON.stringify(field(data, 'args'))}` : null
  if (line !== null) process.stderr.write(`${showHiddenLine(line.slice(0, LINE_CHARACTERS_MAX))}\n`)
}

const REASONS: readonly EndReason[] = ['completed', 'gave_up', 'max-steps', 'max-tool-calls', 'rejected', 'ask', 'turn-timeout']
const CODES: readonly ErrorCode[] = ['MODEL_ERROR', 'LOAD_ERROR', 'GRAPH_ERROR', 'LOOP_ERROR', 'TURN_ERROR']

function endOf({ reason, code, text, message }: Data): TurnEnd {
  return {
    reason: REASONS.find((each) => each === reason) ?? 'error',
    code: CODES.find((each) => each === code) ?? null,
    text: typeof text === 'string' ? text : '',
    message: typeof message === 'string' ? message : null,
  }
}

export async function statusCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...TREE, json: { type: 'boolean', default: false } })
  noArgument(positionals)
  const { type: _, ...status } = await askResident(placesIn(values.tree).socket, { type: 'control', action: 'status' })
  if (values.json) process.stdout.write(`${hiddenAsJson(JSON.stringify(status))}\n`)
  else for (const [name, value] of Object.entries(status)) process.stdout.write(showHiddenLine(`${name}: ${String(value)}`).concat('\n'))
  return 0
}

export async function mountCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, TREE)
  const release = onlyArgument(positionals, 'the release to mount')
  return tellMounted(await askResident(placesIn(values.tree).socket, { type: 'control', action: 'mount', release }))
}

function tellMounted({ release_id, before, provisional }: Data): number {
  const name = nameOf(String(release_id), provisional === true)
  const line = release_id === before ? `${name} is already current` : `${name} is mounted`
  process.stdout.write(`${showHiddenLine(line)}\n`)
  return 0
}

export async function updateCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, {
    ...TREE,
    release: { type: 'string' },
    provisional: { type: 'boolean', default: false },
    url: { type: 'string' },
    scenario: { type: 'string' },
  })
  noArgument(positionals)
  const { tree, release, provisional, url, scenario } = values
  if (provisional && release !== undefined) throw new UsageError('--provisional and --release exclude each other')
  const places = placesIn(tree)
  const wanted = { ...(release !== undefined && { release }), ...(provisional && { provisional }) }
  if (await isServed(places.socket)) return tellMounted(await askResident(places.socket, { type: 'control', action: 'mount', ...wanted }))
  const service = await serviceIn(places, { url, scenario })
  const checked = await fetchRelease({ ...service, root: places.root }, wanted)
  const { releaseId } = await mount(places.root, checked)
  if (checked.note !== null) process.stderr.write(`svc-native: ${showHiddenLine(checked.note)}\n`)
  process.stdout.write(`${showHiddenLine(`${nameOf(releaseId, checked.manifest.provisional === true)} is in ${places.root}`)}\n`)
  return 0
}
