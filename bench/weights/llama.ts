/** Tokens per second through the llama runtime, the whole service around it, beside llama.cpp's own server on the same model. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { placeIn, startChild } from '../../test/crash/child.ts'
import { median } from '../stats.ts'

const CLIENTS = [1, 4, 8]
const SHARE_LEAST = 0.9
const ROUNDS = 3
const ROUND_MS = 4000
/** On a machine that is slow or busy there are fewer rounds. */
const ROUNDS_MS_MAX = 60_000
const ANSWER_TOKENS = 64
const CONTEXT_TOKENS = 512
const QUESTION = 'Tell me a long story.'

interface Contestant {
  readonly address: string
  readonly stop: () => Promise<void>
}

/** Whether the service was fast enough with every number of clients. */
export async function besideServer(gguf: string, python: string, threads: number): Promise<boolean> {
  say(`threads of each: ${threads}; rounds in turns, the middle one of ${ROUNDS}, or of fewer where they take long`)
  say("| clients | tokens per second, service | llama.cpp's own server | share | load of the machine |\n|--:|--:|--:|--:|--:|")
  let isFast = true
  for (const clients of CLIENTS) {
    const ours = await startService(gguf, clients, threads)
    const server = await startServer(python, [gguf, clients, CONTEXT_TOKENS, threads])
    const rates: { readonly ours: number[]; readonly server: number[] } = { ours: [], server: [] }
    for (const { address } of [ours, server]) await ask(address)
    const begun = performance.now()
    for (let round = 0; round < ROUNDS && performance.now() - begun < ROUNDS_MS_MAX; round += 1) {
      rates.ours.push(await rateOf(ours, clients))
      rates.server.push(await rateOf(server, clients))
      tellProgress(`clients: ${clients}, round ${round + 1} of ${ROUNDS}`)
    }
    await Promise.all([ours.stop(), server.stop()])
    const [mine, theirs] = [median(rates.ours), median(rates.server)]
    isFast &&= mine / theirs >= SHARE_LEAST
    say(`| ${clients} | ${mine.toFixed(0)} | ${theirs.toFixed(0)} | ${(mine / theirs).toFixed(2)} | ${loadavg()[0]?.toFixed(1)} |`)
  }
  if (!isFast) say(`at least ${SHARE_LEAST} is wanted`)
  return isFast
}

/** Each client asks again as soon as it is answered. */
async function rateOf({ address }: Contestant, clients: number): Promise<number> {
  const begun = performance.now()
  const counts: number[] = []
  const client = async (): Promise<void> => {
    while (performance.now() - begun < ROUND_MS) counts.push(await ask(address))
  }
  await Promise.all(Array.from({ length: clients }, client))
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - begun) / 1000)
}

async function startService(gguf: string, clients: number, threads: number): Promise<Contestant> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  mkdirSync(join(folder, 'data'))
  const place = placeIn(join(folder, 'data'))
  const settings = {
    recipe: 'weights',
    'svc.port': 0,
    'storage.agent_record_dir': place.records,
    'storage.artifact_repository': place.repository,
    'inference.runtime': 'llama',
    'inference.engine.model': gguf,
    'inference.engine.parallel': clients,
    'inference.engine.context_tokens': CONTEXT_TOKENS,
    'inference.engine.threads': threads,
    'training.trainer_url': 'http://127.0.0.1:9',
    'training.base_model': 'tiny',
  }
  const child = startChild(place, { settings })
  const address = await child.address
  if (address === null) throw new Error('the service did not start')
  const stop = async (): Promise<void> => {
    child.stop()
    await child.ended
    rmSync(folder, { recursive: true, force: true })
  }
  return { address, stop }
}

async function startServer(python: string, args: readonly (string | number)[]): Promise<Contestant> {
  const script = join(import.meta.dirname, 'llama_server.py')
  const child = spawn(python, [script, ...args.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)
  const [address] = await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [])])
  if (typeof address !== 'string') throw new Error('the server of llama.cpp did not start')
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { address, stop }
}

/** Asks once, and says how many tokens came. */
async function ask(address: string): Promise<number> {
  const body = { model: 'tiny', messages: [{ role: 'user', content: QUESTION }], max_tokens: ANSWER_TOKENS, temperature: 1 }
  const headers = { 'content-type': 'application/json', 'x-svc-scenario': 'bench' }
  const answer = await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) })
  const { usage }: { readonly usage?: { readonly completion_tokens: number } } = JSON.parse(await answer.text())
  if (usage === undefined) throw new Error(`no answer: status ${answer.status}`)
  return usage.completion_tokens
}

/** Apart from the table, which may go into a file. */
function tellProgress(line: string): void {
  process.stderr.write(`${line}\n`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
