/** The demo: an agent fails, reports say so, a change is written, measured and published, and the agent passes. Then a person requests a change. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CatalogRow } from '@svc-ai/client'
import { QUESTIONS } from '../src/cli/welcome/demo.ts'
import { CONFIGURATION, openStage, SCENARIO, type DemoSetup } from './setup.ts'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
const isTerminal = process.stdout.isTTY

const painted = (code: number, text: string): string => (isTerminal ? `\u001B[${code}m${text}\u001B[0m` : text)
const bold = (text: string): string => painted(1, text)
const dim = (text: string): string => painted(2, text)
const good = (text: string): string => painted(32, text)
const bad = (text: string): string => painted(31, text)

const print = (text = ''): void => void process.stdout.write(`${text}\n`)

let steps = 0
function title(text: string): void {
  steps += 1
  print(`\n${bold(`${steps}  ${text}`)}`)
}

const line = (text: string): void => print(`   ${text}`)

/** Shows `label` and the progress until the work is done; without a terminal it prints once. */
async function during<T>(label: string, work: Promise<T>, progress: () => string = () => ''): Promise<T> {
  if (!isTerminal) {
    line(`${label} …`)
    return work
  }
  let frame = 0
  const timer = setInterval(() => {
    frame += 1
    process.stdout.write(`\r\u001B[2K   ${FRAMES[frame % FRAMES.length]} ${label} ${dim(progress())}`)
  }, FRAME_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
    process.stdout.write('\r\u001B[2K')
  }
}

const REQUEST = 'Always write the unit after a converted quantity.'
/** The first proposed change need not pass the gate. */
const REPORTS_MAX = 6
const LOOK_AGAIN_MS = 200

const began = performance.now()
const stays = process.argv.includes('--stay') || process.stdout.isTTY

if (process.argv.includes('--help')) {
  print('npm run demo            a minute with a built-in mock model; on a terminal the service keeps running afterwards')
  print('npm run demo -- --stay  always keeps it running')
} else await demo()

async function demo(): Promise<void> {
  print(bold('svc: an agent that gets better from its own traffic'))
  print(dim('A built-in mock model answers; no API key is needed, and nothing leaves this machine.'))
  title('A service, and an agent that follows its releases')
  const setup = await during('starting', openStage())
  process.once('SIGINT', () => {
    setup.close()
    process.exit(0)
  })
  try {
    line(`${setup.url}  ${dim(`svc serve -c ${CONFIGURATION}`)}`)
    await learnFromTraffic(setup)
    await learnFromRequest(setup)
    await show(setup)
    if (stays) await new Promise<never>(() => undefined)
  } finally {
    setup.close()
  }
}

async function learnFromTraffic(setup: DemoSetup): Promise<void> {
  title('The agent works, and fails')
  const failed = await ask(setup)
  title('A report says so, and the service looks for a fix')
  for (let report = 1; report <= REPORTS_MAX; report += 1) {
    line(dim("svc-native report --score 0 --feedback 'The numeral is wrong.'"))
    const rows = (await setup.service.catalog()).length
    await setup.agent(['report', '--score', '0', '--feedback', 'The numeral is wrong.'])
    const row = await during(
      'a change is written and played against what is served',
      nextRow(setup, rows),
      () => `${setup.episodes()} episodes`,
    )
    printRow(row)
    if (row.result === 'published') {
      await during('the agent installs it', followed(setup, row.release_id))
      break
    }
    await setup.agent(['turn', '-p', failed[report % failed.length] ?? QUESTIONS[0]?.[0] ?? '', '--quiet'])
  }
  title('The agent followed the release; the same questions again')
  await ask(setup)
}

async function followed(setup: DemoSetup, releaseId: string): Promise<void> {
  while (!(await setup.agent(['status'])).includes(releaseId)) await sleep(LOOK_AGAIN_MS)
}

async function ask(setup: DemoSetup): Promise<readonly string[]> {
  const failed: string[] = []
  for (const [question, answer] of QUESTIONS) {
    const said = (await during(question, setup.agent(['turn', '-p', question, '--quiet']))).split('\n').at(-1) ?? ''
    line(`${said === answer ? good('✓') : bad('✗')} ${question} ${said === answer ? good(said) : `${bad(said)} ${dim(`(${answer})`)}`}`)
    if (said !== answer) failed.push(question)
  }
  return failed
}

async function nextRow({ service }: DemoSetup, rows: number): Promise<CatalogRow> {
  for (;;) {
    const catalog = await service.catalog()
    const last = catalog.at(-1)
    if (catalog.length > rows && last !== undefined) return last
    await sleep(LOOK_AGAIN_MS)
  }
}

interface RowMetrics {
  readonly mutation?: { readonly op: string; readonly options?: { readonly config?: { readonly text?: string } } }
  readonly selection?: { readonly reason: string }
  readonly skipped?: string
}

function printRow({ result, metrics }: CatalogRow): void {
  const { mutation, selection, skipped }: RowMetrics = Object(metrics)
  const text = mutation?.options?.config?.text
  if (text !== undefined) line(`${mutation?.op} ${bold(JSON.stringify(text.trim()))}`)
  line(`${result === 'published' ? good(result) : bad(result)}: ${selection?.reason ?? skipped ?? ''}`)
}

async function learnFromRequest(setup: DemoSetup): Promise<void> {
  title('A person asks for a change in plain words')
  line(dim(`svc-native harness '${REQUEST}' --wait`))
  const rows = (await setup.service.catalog()).length
  let last = ''
  const asked = setup.agent(['harness', REQUEST, '--wait'], (text) => (last = text))
  await during('it is written, reviewed and checked for harm', asked, () => last)
  printRow(await nextRow(setup, rows))
}

async function show({ service, url, folder }: DemoSetup): Promise<void> {
  title('The steps')
  for (const { step, result, page_path: page } of await service.catalog())
    line(`step ${step}  ${result.padEnd(9)}  ${dim(`page: ${url}${page}`)}`)
  if (stays) {
    line(`${dim('the console:')} ${url}/console`)
    line(`${dim('every step as JSON:')} curl ${url}/svc/harness/releases -H 'x-svc-scenario: ${SCENARIO}'`)
    line(`${dim('what a step asked, proposed and played:')} ${folder}/.svc/steps`)
  }
  print(`\n${Math.round((performance.now() - began) / 1000)} s. ${dim('docs/evolution.md shows how to set it up for your own agent.')}`)
  print(dim(stays ? 'The service runs until ctrl+c.' : 'npm run demo -- --stay keeps the service running.'))
}
