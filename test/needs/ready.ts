/** Has everything there that tests need of the machine: found, or installed and made once, by one process at a time, with a word about it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { alone } from '../../scripts/alone.mjs'
import { wordsOf } from '../../src/kit/index.ts'
import { installPeft, isPeftThere } from '../numbers/peft.ts'
import { programsCalled } from '../support/programs.ts'
import { installGrafanaSchema, isGrafanaSchemaThere } from '../support/grafana.ts'
import { installOtelCollector, isOtelCollectorThere } from '../support/otel-collector.ts'
import { installVersitygw, isVersitygwThere } from '../support/s3.ts'
import { installTestPg, isTestPgThere, postgresPrograms } from '../support/postgres.ts'
import { installTestLlama, isTestLlamaThere } from '../weights/support/llama.ts'
import { makeTinyModel } from '../weights/support/tiny-model.ts'
import { pythonWithTorch } from '../weights/support/torch.ts'
import { isProgram, NEEDS, type NeedName } from './list.ts'
import { lineOf, type Missing } from './missing.ts'
import { installPackages } from './packages.ts'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache')

/** Says nothing where nothing has to be done, and ends with one line about what could not be had. */
export async function getReady(names: readonly NeedName[]): Promise<Missing> {
  const missing = { ...(await installed(names)) }
  if (names.includes('tiny model')) {
    // It says itself what it does; without PyTorch there is no use in trying.
    const problem = missing.torch ?? (await makeTinyModel().then(() => null, wordsOf))
    if (problem !== null) missing['tiny model'] = problem
  }
  if (Object.keys(missing).length > 0) say(lineOf(missing))
  return missing
}

/** For a program that is no test: it begins with everything there, or not at all. */
export async function begin(names: readonly NeedName[]): Promise<void> {
  if (Object.keys(await getReady(names)).length > 0) process.exit(2)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

const tellHolder = (pid: number): void => say(`waiting for process ${pid}, which installs what tests need …`)

async function installed(names: readonly NeedName[]): Promise<Missing> {
  if ((await absent(names)).length === 0) return {}
  mkdirSync(CACHE, { recursive: true })
  return alone(
    join(CACHE, 'getting-ready'),
    async () => ({
      ...(await withPackages(names)),
      ...(await withPeft(names)),
      ...(await withLlama(names)),
      ...(await withPg(names)),
      ...(await withGrafanaSchema(names)),
      ...(await withCollector(names)),
      ...(await withVersitygw(names)),
    }),
    tellHolder,
  )
}

async function withPackages(names: readonly NeedName[]): Promise<Missing> {
  const wanted = (await absent(names)).filter((name) => NEEDS[name].packages.length > 0)
  if (wanted.length === 0) return {}
  const packages = wanted.flatMap((name) => NEEDS[name].packages)
  if (process.getuid?.() === 0) say(`tests need ${wanted.join(', ')}: installing ${packages.join(' ')} …`)
  const problem = await installPackages(packages)
  return Object.fromEntries((await absent(wanted)).map((name) => [name, problem ?? 'its package does not hold it']))
}

async function withPeft(names: readonly NeedName[]): Promise<Missing> {
  if (!(await absent(names)).includes('peft')) return {}
  say('tests need PEFT: installing it for the Python that has PyTorch, about 150 MB …')
  const problem = await installPeft().then(() => null, wordsOf)
  return problem === null ? {} : { peft: problem }
}

async function withLlama(names: readonly NeedName[]): Promise<Missing> {
  if (!(await absent(names)).includes('llama')) return {}
  say('tests need llama: installing the runtime with npm, about 85 MB …')
  const problem = await installTestLlama().then(() => null, wordsOf)
  return problem === null ? {} : { llama: problem }
}

async function withPg(names: readonly NeedName[]): Promise<Missing> {
  if (!(await absent(names)).includes('pg')) return {}
  say('tests need pg: installing what the postgres store runs on with npm …')
  const problem = await installTestPg().then(() => null, wordsOf)
  return problem === null ? {} : { pg: problem }
}

async function withGrafanaSchema(names: readonly NeedName[]): Promise<Missing> {
  if (!(await absent(names)).includes('grafana schema')) return {}
  say('tests need the types of a Grafana dashboard: installing them with npm …')
  const problem = await installGrafanaSchema().then(() => null, wordsOf)
  return problem === null ? {} : { 'grafana schema': problem }
}

async function withCollector(names: readonly NeedName[]): Promise<Missing> {
  if (!(await absent(names)).includes('collector')) return {}
  say("tests need OpenTelemetry's collector: making it with Go, which takes minutes the first time …")
  const problem = await installOtelCollector().then(() => null, wordsOf)
  return problem === null ? {} : { collector: problem }
}

async function withVersitygw(names: readonly NeedName[]): Promise<Missing> {
  if (!(await absent(names)).includes('versitygw')) return {}
  say('tests need versitygw: making it with Go, which takes minutes the first time …')
  const problem = await installVersitygw().then(() => null, wordsOf)
  return problem === null ? {} : { versitygw: problem }
}

async function absent(names: readonly NeedName[]): Promise<readonly NeedName[]> {
  const found = await Promise.all(names.map(isThere))
  return names.filter((_, index) => found[index] === false)
}

async function isThere(name: NeedName): Promise<boolean> {
  if (isProgram(name)) return programsCalled(name).length > 0
  if (name === 'llama') return isTestLlamaThere()
  if (name === 'peft') return isPeftThere()
  if (name === 'grafana schema') return isGrafanaSchemaThere()
  if (name === 'collector') return isOtelCollectorThere()
  if (name === 'pg') return isTestPgThere()
  if (name === 'versitygw') return isVersitygwThere()
  if (name === 'postgres') return postgresPrograms() !== null
  if (name === 'torch') return (await pythonWithTorch().catch(() => null)) !== null
  return true
}
