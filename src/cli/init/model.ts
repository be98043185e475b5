/** The question for the model: the built-in mock model, one found on this machine or in its environment, or any address. */
import { ConfigProblem, loadConfig, readCommandLine, type Environment, type LoadedConfig } from '../../config/index.ts'
import { ENV } from '../../contract/index.ts'
import { chosenByNumber, type InitChoice, type Misfit, type InitQuestion } from './ask.ts'

type Upstream = LoadedConfig['upstream']

const PRACTICE = 'practice'
const URL_KEY = 'inference.upstream_url'

export async function modelQuestion(environment: Environment): Promise<InitQuestion> {
  const found = await offered(environment)
  return {
    option: '--model',
    title: 'Which model answers? A number, or the base address of another such as https://host:port',
    choices: ['a built-in mock model; no API key needed (default)', ...found.map((each) => `${addressOf(each)} (${each.found})`)],
    async read(answer) {
      const byNumber = chosenByNumber<Upstream | null>(answer, [null, ...found])
      if (answer === '' || answer === PRACTICE || byNumber === null) return practice()
      const upstream = byNumber ?? found.find((each) => addressOf(each) === answer.replace(/\/+$/, ''))
      return upstream === undefined ? byAddress(answer) : ofFound(upstream, environment)
    },
  }
}

/** Every upstream that would be found, one after the other. */
async function offered(environment: Environment): Promise<readonly Upstream[]> {
  const { upstream } = await loadConfig({ environment })
  if (upstream.model === null) return []
  const variable = variableOf(upstream)
  return variable === null ? [upstream] : [upstream, ...(await offered(without(environment, variable)))]
}

const variableOf = ({ found }: Upstream): string | null => /^environment (\w+)$/.exec(found)?.[1] ?? null

/** Removes a variable and those that belong to it. */
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
