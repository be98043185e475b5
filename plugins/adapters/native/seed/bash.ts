/** Runs a shell command in the working directory and answers what it printed, with its exit status unless that is 0. */
import { spawn } from 'node:child_process'

interface Arguments {
  readonly command: string
  readonly timeout_seconds?: number
}

const SECONDS_DEFAULT = 120
const SECONDS_MAX = 280
const LAST_WORDS_MILLISECONDS = 500
/** What is kept of the output: its beginning and its end, each so much. */
const CHARACTERS_KEPT = 1_000_000

export async function run({ command, timeout_seconds: wanted = SECONDS_DEFAULT }: Arguments, workdir: string): Promise<string> {
  const seconds = Math.min(Math.max(wanted, 1), SECONDS_MAX)
  const output = keeper()
  const child = spawn('/bin/sh', ['-c', 'exec "$(command -v bash || echo /bin/sh)" -c "$0"', command], {
    cwd: workdir,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.setEncoding('utf8').on('data', (part: string) => output.add(part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => output.add(part))
  const ending = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => resolve(`[ended after ${seconds} s]`), seconds * 1000)
    const settle = (status: number | null, signal: string | null): void => {
      clearTimeout(timer)
      resolve(status === 0 ? '' : `[exit status ${status ?? signal}]`)
    }
    child.on('error', reject)
    child.on('close', settle)
    // What the command left running holds its output open: only what it still has to say of itself is waited for.
    child.on('exit', (status, signal) => setTimeout(() => settle(status, signal), LAST_WORDS_MILLISECONDS))
  })
  return [output.text().trimEnd(), ending].filter((part) => part !== '').join('\n') || '[no output]'
}

function keeper(): { add(part: string): void; text(): string } {
  let [head, tail, left] = ['', '', 0]
  return {
    add(part) {
      const room = CHARACTERS_KEPT - head.length
      head += part.slice(0, room)
      const rest = tail + part.slice(Math.max(room, 0))
      tail = rest.slice(-CHARACTERS_KEPT)
      left += rest.length - tail.length
    },
    text: () => (left === 0 ? head + tail : `${head}\n[${left} characters are left out]\n${tail}`),
  }
}
