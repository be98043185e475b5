/** The questions of `init` for the model and the tasks, and how each is answered: by an option, a person, or its default. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { parse } from 'yaml'
import { ConfigProblem, loadConfig, readCommandLine, type Environment, type LoadedConfig } from '../../config/index.ts'
import { ENV } from '../../contract/index.ts'
import { codeOf, isMissing } from '../../kit/index.ts'
import { oneLine } from '../screen/text.ts'
import type { Surroundings } from '../surroundings.ts'

export interface InitQuestion {
  readonly option: string
  readonly title: string
  /** Possible answers, one per line, the default first. */
  readonly choices: readonly string[]
  /** An empty answer means the default. */
  read(answer: string): Promise<InitChoice | Misfit>
}

interface InitChoice {
  readonly settings: Readonly<Record<string, unknown>>
  readonly words: string
}

interface Misfit {
  readonly problem: string
}

export interface InitAnswer extends InitChoice {
  readonly how: 'option' | 'person' | 'default' | 'no terminal'
}

const PROMPT = '> '

export function answerTo({ yes, surroundings }: { readonly yes: boolean; readonly surroundings: Surroundings }) {
  return async (question: InitQuestion, given: string | undefined): Promise<InitAnswer> => {
    if (given !== undefined) return { ...fitting(question, await question.read(given)), how: 'option' }
    if (!yes) return askFor(question, surroundings)
    return { ...fitting(question, await question.read('')), how: 'default' }
  }
}

/** No answer on a terminal cancels; without a terminal the default is used. */
async function askFor(question: InitQuestion, surroundings: Surroundings): Promise<InitAnswer> {
  let asked = [question.title, ...question.choices.map((choice, index) => `  ${index + 1}  ${choice}`), PROMPT].join('\n')
  for (;;) {
    const said = await surroundings.ask(asked)
    if (said === null && surroundings.isTerminal) throw new ConfigProblem(['no answer, so nothing is written; --yes takes the defaults'])
    if (said === null) return { ...fitting(question, await question.read('')), how: 'no terminal' }
    const chosen = await question.read(said.trim())
    if (!isMisfit(chosen)) return { ...chosen, how: 'person' }
    surroundings.out(`  ${chosen.problem}`)
    asked = PROMPT
  }
}

function fitting({ option }: InitQuestion, chosen: InitChoice | Misfit): InitChoice {
  if (isMisfit(chosen)) throw new ConfigProblem([`${option}: ${chosen.problem}`])
  return chosen
}

const isMisfit = (chosen: InitChoice | Misfit): chosen is Misfit => 'problem' in chosen

export function chosenByNumber<T>(answer: string, list: readonly T[]): T | undefined {
  return /^\d+$/.test(answer) ? list[Number(answer) - 1] : undefined
}

type Upstream = LoadedConfig['upstream']

const PRACTICE = 'practice'
const URL_KEY = 'inference.upstream_url'

/** The built-in mock model, one found on this machine or in its environment, or any address. */
export async function modelQuestion(environment: Environment): Promise<InitQuestion> {
  const found = await offered(environment)
  return {
    option: '--model',
    title: 'Which model answers? A number, or the base address of another such as https://host:port',
    choices: ['a built-in mock model; no API key needed (default)', ...found.map((each) => `${addressOf(each)} (${each.found})`)],
    async read(answer) {
      const byNumber = chosenByNumber<Upstream | null>(answer, [null, ...found])
      if (answer === '' || answer === PRACTICE || byNumber === null) return practice()
      const upstream = byNumber ?? found.find((each) => addressOf(each) === answer.replace(/(?<!\/)\/+$/, ''))
      return upstream === undefined ? byAddress(answer) : ofFound(upstream, environment)
    },
  }
}

async function offered(environment: Environment): Promise<readonly Upstream[]> {
  const { upstream } = await loadConfig({ environment })
  if (upstream.model === null) return []
  const variable = variableOf(upstream)
  return variable === null ? [upstream] : [upstream, ...(await offered(without(environment, variable)))]
}

const variableOf = ({ found }: Upstream): string | null => /^environment (\w+)$/.exec(found)?.[1] ?? null

function without(environment: Environment, variable: string): Environment {
  const belongs: readonly string[] =
    variable === ENV.upstreamUrl ? [ENV.upstreamUrl, ENV.upstreamModel, ENV.upstreamApi, ENV.upstreamApiKey] : [variable]
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !belongs.includes(name)))
}

const addressOf = ({ model }: Upstream): string => model?.url ?? ''

const practice = (): InitChoice => ({ settings: { 'inference.runtime': PRACTICE }, words: 'the built-in mock model answers' })

/** The file names the key's variable and never holds the key. */
function ofFound(upstream: Upstream, environment: Environment): InitChoice {
  const { model, exampleModel } = upstream
  const variable = variableOf(upstream) === ENV.upstreamUrl ? ENV.upstreamApiKey : variableOf(upstream)
  const hasKey = variable !== null && (environment[variable] ?? '') !== ''
  return {
    settings: {
      [URL_KEY]: addressOf(upstream),
      ...(exampleModel !== null && { 'inference.upstream_model': exampleModel }),
      'inference.upstream_api': model?.api,
      ...(hasKey && { 'inference.upstream_api_key': `\${${variable}}` }),
    },
    words: `${addressOf(upstream)} answers`,
  }
}

/** Checked by the configuration's own rule. */
async function byAddress(answer: string): Promise<InitChoice | Misfit> {
  try {
    const { config } = await loadConfig({ commandLine: readCommandLine([`--${URL_KEY}=${answer}`]), environment: {} })
    const url = config.inference.upstream_url ?? ''
    return { settings: { [URL_KEY]: url }, words: `${url} answers` }
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error
    const rule = error.problems[0]?.replace(/^.*?upstream_url /, '') ?? 'must be a whole URL'
    return { problem: `an address ${rule}; or answer ${PRACTICE}` }
  }
}

/** A folder of folders, a file with a list, or the tasks that come with the service. Paths in the configuration are relative to `folder`. */
export function tasksQuestion(folder: string): InitQuestion {
  return {
    option: '--tasks',
    title:
      'Where are the tasks that changes are measured by? A folder with one folder per task, or a YAML or JSON file with a list of them',
    choices: ['the small general tasks that come with the service (default)'],
    async read(answer) {
      if (answer === '' || answer === '1') return { settings: {}, words: 'measured by the tasks that come with the service' }
      try {
        return (await stat(answer)).isDirectory() ? await fromFolder(answer, folder) : await fromFile(answer)
      } catch (error) {
        return { problem: `${oneLine(answer)} ${wordsOf(error)}; name a folder or a file, or answer nothing` }
      }
    },
  }
}

async function fromFolder(answer: string, folder: string): Promise<InitChoice | Misfit> {
  const names = await readdir(answer, { withFileTypes: true })
  if (!names.some((each) => each.isDirectory())) return { problem: `${oneLine(answer)} holds no folder; each task is a folder of its own` }
  const path = relative(folder, resolve(answer)).split(sep).join('/') || '.'
  return { settings: { 'evolution.tasks_dir': path }, words: `measured by the tasks in ${oneLine(answer)}` }
}

/** Copied, since a list of tasks is part of the configuration. */
async function fromFile(answer: string): Promise<InitChoice | Misfit> {
  const tasks: unknown = readList(await readFile(answer, 'utf8'))
  if (!Array.isArray(tasks) || tasks.length === 0)
    return { problem: `${oneLine(answer)} holds no list of tasks; each is a text, or {name, prompt, answer, …}` }
  return { settings: { 'evolution.tasks': tasks.map(literal) }, words: `measured by the ${tasks.length} tasks of ${oneLine(answer)}` }
}

/** Null for invalid YAML; the parser's message may quote the file. */
function readList(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' })
  } catch {
    return null
  }
}

/** Text in a configuration is filled from the environment; a task's text must not be. */
const literal = (task: unknown): unknown => (typeof task === 'string' ? task.replaceAll('${', () => '$${') : task)

function wordsOf(error: unknown): string {
  return isMissing(error) ? 'is not there' : `cannot be read (${codeOf(error) ?? 'unreadable'})`
}
