/** Asks a real agent what it loaded from a folder of rendered files: by its own debug commands and protocols, without a model. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import type { Variables } from './home.ts'

/** What an agent says that it loaded, without what it brings itself. */
export interface Loaded {
  readonly settings: JsonObject
  /** Skills and commands, by name. */
  readonly named: Readonly<Record<string, string>>
  /** The files of rules, and agents of the tree's own, where the agent names them. */
  readonly rules?: readonly string[]
  readonly agents?: readonly string[]
}

export interface Asked {
  /** The wrapper, or the vendor's own program. */
  readonly program: string
  readonly vendor: string
  /** Where the session is. */
  readonly work: string
  readonly env: Variables
}

export const LOADED: Readonly<Record<string, (asked: Asked) => Promise<Loaded>>> = { claude, codex, opencode, pi }

/** Its control protocol: what an editor asks when it starts a session. */
async function claude(asked: Asked): Promise<Loaded> {
  const subtypes = ['initialize', 'get_settings', 'get_context_usage']
  const lines = subtypes.map((subtype, id) => ({ type: 'control_request', request_id: String(id), request: { subtype } }))
  const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
  const answers = await answersOf(asked, args, lines, (line) => at(line, 'response', 'request_id'))
  const [start, settings, context] = answers.map((line) => at(line, 'response', 'response'))
  const own = listOf(at(start, 'commands')).filter((command) => at(command, 'builtin') !== true)
  // A file of settings with an error is left out as a whole.
  const user = listOf(at(settings, 'sources')).find((source) => at(source, 'source') === 'userSettings')
  return {
    settings: objectOf(at(user, 'settings')),
    named: Object.fromEntries(own.map((each) => [textOf(at(each, 'name')), textOf(at(each, 'description')).replace(/ \(user\)$/, '')])),
    rules: listOf(at(context, 'memoryFiles')).map((file) => textOf(at(file, 'path'))),
    agents: listOf(at(context, 'agents')).map((agent) => JSON.stringify(agent)),
  }
}

/** Its app server: what an editor asks. The layer of a file is what its own parser read. */
async function codex(asked: Asked): Promise<Loaded> {
  const lines = [
    { id: 0, method: 'initialize', params: { clientInfo: { name: 'compared', version: '1' } } },
    { method: 'initialized' },
    { id: 1, method: 'config/read', params: { includeLayers: true } },
    { id: 2, method: 'skills/list', params: { cwds: [asked.work] } },
    { id: 3, method: 'thread/start', params: { cwd: asked.work } },
  ]
  const [, config, skills, thread] = await answersOf(asked, ['app-server'], lines, (line) => at(line, 'id'))
  const layer = listOf(at(config, 'result', 'layers')).find((each) => at(each, 'name', 'type') === 'user')
  const [folder] = listOf(at(skills, 'result', 'data'))
  const own = listOf(at(folder, 'skills')).filter((skill) => at(skill, 'scope') !== 'system')
  return {
    settings: objectOf(at(layer, 'config')),
    named: Object.fromEntries(own.map((skill) => [textOf(at(skill, 'name')), textOf(at(skill, 'description'))])),
    rules: listOf(at(thread, 'result', 'instructionSources')).map(textOf),
  }
}

async function opencode(asked: Asked): Promise<Loaded> {
  const config = await printed(asked, ['debug', 'config'])
  const skills = await printed(asked, ['debug', 'skill'])
  const { command, $schema: _, username: __, ...settings } = objectOf(config)
  const own = listOf(skills).filter((skill) => at(skill, 'location') !== '<built-in>')
  const commands = Object.entries(objectOf(command ?? null)).map(([name, value]) => [name, textOf(at(value, 'description'))])
  return {
    settings: withoutEmpty(settings),
    named: Object.fromEntries([...commands, ...own.map((each) => [textOf(at(each, 'name')), textOf(at(each, 'description'))])]),
  }
}

/** It adds these to what it reads. */
const ADDED: ReadonlySet<string> = new Set(['agent', 'mode', 'plugin', 'options', 'permission'])

function withoutEmpty(settings: JsonObject): JsonObject {
  const members = Object.entries(settings).map(([name, value]): [string, Json] => [name, isObject(value) ? withoutEmpty(value) : value])
  return Object.fromEntries(members.filter(([name, value]) => !ADDED.has(name) || JSON.stringify(value).length > 2))
}

/** Its protocol for editors tells commands; its package's own class reads the settings. */
async function pi(asked: Asked): Promise<Loaded> {
  const [answer] = await answersOf(asked, ['--mode', 'rpc'], [{ id: '0', type: 'get_commands' }], (line) => at(line, 'id'))
  const own = listOf(at(answer, 'data', 'commands')).filter((each) => at(each, 'source') !== 'extension')
  const code = `import { SettingsManager } from ${JSON.stringify(packageOf(asked.vendor))}
const read = SettingsManager.create(process.cwd(), process.env.PI_CODING_AGENT_DIR)
process.stdout.write(JSON.stringify(read.drainErrors().length > 0 ? null : read.getGlobalSettings()))`
  const settings = await printed({ ...asked, program: process.execPath }, ['--input-type=module', '-e', code])
  return {
    settings: objectOf(settings),
    named: Object.fromEntries(own.map((each) => [textOf(at(each, 'name')).replace(/^skill:/, ''), textOf(at(each, 'description'))])),
  }
}

/** The module of the package that the program is of. */
const packageOf = (program: string): string => join(program, '../../@earendil-works/pi-coding-agent/dist/index.js')

/** Starts the program, writes the lines, and ends it when each line with an id is answered. */
async function answersOf(
  asked: Asked,
  args: readonly string[],
  lines: readonly object[],
  idOf: (line: Json) => Json,
): Promise<readonly Json[]> {
  const wanted = lines.length - lines.filter((line) => 'method' in line && !('id' in line)).length
  const found = new Map<string, Json>()
  const child = started(asked, args)
  child.stdin.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  let [left, said] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text))
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${left}${text}`.split('\n')
    left = parts.pop() ?? ''
    for (const part of parts) {
      const line = jsonOf(part)
      const id = idOf(line)
      if (id !== null) found.set(JSON.stringify(id), line)
    }
    if (found.size === wanted) child.stdin.end()
  })
  await new Promise((resolve) => child.once('close', resolve))
  if (found.size < wanted)
    throw new Error(`${asked.program} ${args.join(' ')} answered ${found.size} of ${wanted}: ${said.slice(-2000)}${left.slice(-500)}`)
  return [...found].toSorted(([one], [other]) => indexOf(one) - indexOf(other)).map(([, line]) => line)
}

/** An id is a number, or a number as text. */
const indexOf = (id: string): number => Number(JSON.parse(id))

/** What a program prints as JSON. */
async function printed(asked: Asked, args: readonly string[]): Promise<Json> {
  const child = started(asked, args)
  child.stdin.end()
  let [out, said] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text))
  const [code] = await new Promise<readonly unknown[]>((resolve) => child.once('close', (...ended: unknown[]) => resolve(ended)))
  if (code !== 0) throw new Error(`${asked.program} ${args.join(' ')} ended with ${String(code)}: ${said.slice(-2000)}`)
  return jsonOf(out)
}

const started = ({ program, work, env }: Asked, args: readonly string[]) => spawn(program, args, { cwd: work, env, timeout: 120_000 })

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const at = (value: Json | undefined, ...path: readonly string[]): Json =>
  path.reduce<Json>((inner, step) => (isObject(inner) ? (inner[step] ?? null) : null), value ?? null)
const listOf = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [])
const objectOf = (value: Json): JsonObject => (isObject(value) ? value : {})
const textOf = (value: Json): string => (typeof value === 'string' ? value : '')
