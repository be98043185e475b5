/** `svc init`: asks three questions and writes a commented configuration file. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigProblem, localUrl, type CommandLineReading, type LoadedConfig } from '../config/index.ts'
import { PRODUCT } from '../contract/index.ts'
import { agentQuestion, RECORDING } from './init/agent.ts'
import { answerTo, type InitAnswer } from './init/ask.ts'
import { fileText } from './init/file.ts'
import { modelQuestion } from './init/model.ts'
import { tasksQuestion } from './init/tasks.ts'
import { isThereProblem, writeChecked } from './init/write.ts'
import { shellWord } from './screen/text.ts'
import { EXIT, type Surroundings } from './surroundings.ts'

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
  const loaded = await writeChecked(output, fileText(summary, settings), { force, environment: surroundings.environment })
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
    `  ${PRODUCT} serve -c ${file}     then open ${localUrl(config.svc.host, config.svc.port)}/console`,
  ]
}
