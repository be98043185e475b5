/** `svc init`: asks three questions and writes a commented configuration file. */
import { existsSync } from 'node:fs'
import { dirname, resolve, basename, join } from 'node:path'
import { link, rm } from 'node:fs/promises'
import {
  ConfigProblem,
  localUrl,
  type CommandLineReading,
  type LoadedConfig,
  allKeys,
  nearest,
  loadConfig,
  type Environment,
} from '../config/index.ts'
import { PRODUCT } from '../contract/index.ts'
import { newId, writeAtomicFile, writeNamedFile } from '../kit/index.ts'
import { fileText } from './init/file.ts'
import { answerTo, chosenByNumber, modelQuestion, tasksQuestion, type InitAnswer, type InitQuestion } from './init/questions.ts'
import { shellWord } from './screen/text.ts'
import { EXIT, type Surroundings } from './surroundings.ts'

const NONE = 'none'
const RECORDING = 'record-only'
const KEY = 'evolution.adapter'

export interface InitOptions {
  readonly output?: string
  readonly model?: string
  readonly adapter?: string
  readonly tasks?: string
  /** Uses the default wherever no option is given. */
  readonly yes?: boolean
  readonly force?: boolean
  readonly commandLine?: Pick<CommandLineReading, 'given' | 'problems'>
}

const FILE = `${PRODUCT}.yaml`

export async function init(options: InitOptions, surroundings: Surroundings): Promise<number> {
  const { output = FILE, force = false } = options
  refuseKeys(options)
  if (!force && existsSync(output)) throw isThereProblem(output)
  const answers = await answersTo(options, dirname(resolve(output)), surroundings)
  if (answers.some(({ how }) => how === 'no terminal')) surroundings.err('there is no terminal to ask questions on: the defaults are used')
  const settings = Object.fromEntries(answers.flatMap((each) => Object.entries(each.settings)))
  const summary = answers.map(({ words }) => words).join('; ')
  const loaded = await writeChecked(output, fileText(summary, settings), force, surroundings.environment)
  surroundings.out([`${output} is written: ${summary}.`, '', ...nextCommands(output, loaded)].join('\n'))
  return EXIT.fine
}

/** A configuration key would be silently ignored here, so it is refused. */
function refuseKeys({ commandLine }: InitOptions): void {
  const { given = [], problems = [] } = commandLine ?? {}
  const [first] = given
  if (problems.length > 0) throw new ConfigProblem(problems)
  if (first !== undefined) throw new ConfigProblem([`init takes no --${first.path.join('.')}; write it into the file afterwards`])
}

async function answersTo(options: InitOptions, folder: string, surroundings: Surroundings): Promise<readonly InitAnswer[]> {
  const { model, adapter, tasks, yes = false } = options
  const answer = answerTo({ yes, surroundings })
  const answers = [await answer(await modelQuestion(surroundings.environment), model), await answer(agentQuestion(), adapter)]
  const isRecording = answers.some(({ settings }) => settings['recipe'] === RECORDING)
  if (!isRecording) return [...answers, await answer(tasksQuestion(folder), tasks)]
  if (tasks === undefined) return answers
  throw new ConfigProblem(['--tasks is for an agent that improves; name one with --adapter'])
}

function nextCommands(output: string, { config, upstream }: LoadedConfig): readonly string[] {
  const file = shellWord(output)
  const lacksModel = upstream.model?.model === null && config.recipe !== RECORDING
  return [
    ...(lacksModel ? [`Set inference.upstream_model in ${output}: that model writes the changes and plays the tasks.`] : []),
    'Next:',
    `  ${PRODUCT} doctor -c ${file}    what is still missing`,
    `  ${PRODUCT} serve -c ${file}     then open ${localUrl(config.svc, config.svc.port)}/console`,
  ]
}

/** The question for the agent to improve: a known adapter, or none, which only records exchanges. */
function agentQuestion(): InitQuestion {
  const names = [NONE, ...adapterNames()]
  return {
    option: '--adapter',
    title: 'Which agent should improve?',
    choices: [`${NONE}: only record (default)`, ...names.slice(1)],
    read(answer) {
      const name = chosenByNumber(answer, names) ?? (answer === '' ? NONE : answer)
      if (name === NONE) return Promise.resolve({ settings: { recipe: RECORDING }, words: 'exchanges are recorded' })
      if (names.includes(name)) return Promise.resolve({ settings: { recipe: 'harness', [KEY]: name }, words: `${name} improves` })
      const meant = nearest(name, names)
      const hint = meant === null ? `there are: ${names.join(', ')}` : `did you mean ${meant}?`
      return Promise.resolve({ problem: `no agent of that name is known; ${hint}` })
    },
  }
}

/** The names in the description of the key. */
export function adapterNames(): readonly string[] {
  const description = allKeys().find(({ key }) => key === KEY)?.description ?? ''
  return [...description.matchAll(/`([a-z]+)`/g)].map(([, name = '']) => name)
}

/** Writes a configuration file completely or not at all, and only if it is valid. */
async function writeChecked(path: string, text: string, force: boolean, environment: Environment): Promise<LoadedConfig> {
  const beside = join(dirname(path), `.${basename(path)}.${newId()}`)
  try {
    await writeAtomicFile(beside, text)
    const loaded = await load(beside, path, environment)
    // Linking never replaces a file that was created meanwhile.
    await (force ? writeNamedFile(path, text) : link(beside, path))
    return loaded
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST' && 'syscall' in error && error.syscall === 'link') throw isThereProblem(path)
    throw new ConfigProblem([`${path} cannot be written (${String(error.code)}); choose another place with -o FILE`])
  } finally {
    // A leftover does no harm, and the error is already being reported.
    await rm(beside, { force: true }).catch(() => undefined)
  }
}

const isThereProblem = (path: string): ConfigProblem =>
  new ConfigProblem([`${path} is there already; choose another name with -o FILE, or replace it with --force`])

/** Problems are reported under the final name of the file. */
async function load(beside: string, path: string, environment: Environment): Promise<LoadedConfig> {
  try {
    return await loadConfig({ file: beside, environment })
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error
    throw new ConfigProblem(error.problems.map((problem) => `${problem.replace(beside, () => path)} (nothing is written)`))
  }
}
