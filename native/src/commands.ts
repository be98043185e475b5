/** The commands that a person gives the resident agent of a folder. */
import { parseArgs } from 'node:util'
import { visible } from '@svc-ai/agent/shared'
import { connect, UsageError, noArgument, onlyArgument, understand, field } from '@svc-ai/client/shared'
import type { EndReason, ErrorCode } from './ended.ts'
import { fetchRelease, mount } from './mount.ts'
import { tellEnd } from './one-turn.ts'
import { placesIn } from './places.ts'
import { serviceIn } from './service-place.ts'
import { askResident, isServed } from './socket.ts'
import type { Data } from './tree.ts'

const TREE = { tree: { type: 'string', default: '.' } } as const

export async function turnCommand(args: readonly string[]): Promise<number> {
  const { words, prompt } = withoutPrompt(args)
  const { values, positionals } = understand(() =>
    parseArgs({
      args: words,
      allowPositionals: true,
      options: { ...TREE, session: { type: 'string' }, quiet: { type: 'boolean', default: false } },
    }),
  )
  noArgument(positionals)
  if (prompt.trim() === '') throw new UsageError('say what to do, in quotes, after -p')
  const { socket } = placesIn(values.tree)
  const request = { type: 'turn', prompt, workdir: process.cwd(), ...(values.session !== undefined && { session: values.session }) }
  const end = await askResident(socket, request, values.quiet ? undefined : tellEvent)
  if (!values.quiet) process.stderr.write(`session ${String(end['session'])}, release ${String(end['release_id'])}\n`)
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
  if (line !== null) process.stderr.write(`${visible(line.slice(0, LINE_CHARACTERS_MAX))}\n`)
}

const REASONS: readonly EndReason[] = ['completed', 'gave_up', 'max-steps', 'max-tool-calls', 'rejected', 'ask', 'turn-timeout']
const CODES: readonly ErrorCode[] = ['MODEL_ERROR', 'LOAD_ERROR', 'GRAPH_ERROR', 'LOOP_ERROR', 'TURN_ERROR']

function endOf({ reason, code, text, message }: Data): Parameters<typeof tellEnd>[0] {
  return {
    reason: REASONS.find((each) => each === reason) ?? 'error',
    code: CODES.find((each) => each === code) ?? null,
    text: typeof text === 'string' ? text : '',
    message: typeof message === 'string' ? message : null,
  }
}

export async function statusCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = understand(() =>
    parseArgs({ args: [...args], allowPositionals: true, options: { ...TREE, json: { type: 'boolean', default: false } } }),
  )
  noArgument(positionals)
  const { type: _, ...status } = await askResident(placesIn(values.tree).socket, { type: 'control', action: 'status' })
  if (values.json) process.stdout.write(`${JSON.stringify(status)}\n`)
  else for (const [name, value] of Object.entries(status)) process.stdout.write(visible(`${name}: ${String(value)}`).concat('\n'))
  return 0
}

export async function mountCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = understand(() => parseArgs({ args: [...args], allowPositionals: true, options: TREE }))
  const release = onlyArgument(positionals, 'the release to mount')
  return tellMounted(await askResident(placesIn(values.tree).socket, { type: 'control', action: 'mount', release }))
}

function tellMounted({ release_id, before }: Data): number {
  const line = release_id === before ? `release ${String(release_id)} is already current` : `release ${String(release_id)} is mounted`
  process.stdout.write(`${visible(line)}\n`)
  return 0
}

export async function updateCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = understand(() =>
    parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...TREE, release: { type: 'string' }, url: { type: 'string' }, scenario: { type: 'string' } },
    }),
  )
  noArgument(positionals)
  const { tree, release, url, scenario } = values
  const places = placesIn(tree)
  if (await isServed(places.socket))
    return tellMounted(await askResident(places.socket, { type: 'control', action: 'mount', ...(release !== undefined && { release }) }))
  const manifest = await fetchRelease(connect(await serviceIn(places, { url, scenario })), release)
  const { releaseId } = await mount(places.root, manifest)
  process.stdout.write(`${visible(`release ${releaseId} is in ${places.root}`)}\n`)
  return 0
}
