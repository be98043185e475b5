/** A bash session that runs commands one after another, and kills everything it started when closed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Session {
  /** What it printed; rejects when a command failed. */
  run(commands: string): Promise<string>
  close(): void
}

/** Printed after each command. */
const DONE = '=== done'

export function openSession(cwd: string, env: Readonly<Record<string, string>>, signal: AbortSignal): Session {
  // Its own process group, so that background processes end with it.
  const bash = spawn('bash', ['-euo', 'pipefail'], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  let printed = ''
  for (const stream of [bash.stdout, bash.stderr]) stream.setEncoding('utf8').on('data', (text: string) => void (printed += text))
  bash.stdin.on('error', () => undefined)
  const ended = once(bash, 'exit').then(() => 'ended' as const)
  const late = once(signal, 'abort').then(() => 'late' as const)
  const close = (): void => {
    try {
      if (bash.pid !== undefined) process.kill(-bash.pid, 'SIGKILL')
    } catch {
      // All gone already.
    }
  }
  // Runs before earlier cleanups remove its folder.
  process.prependOnceListener('exit', close)
  return {
    async run(commands) {
      printed = ''
      // Its commands must not read the next input.
      bash.stdin.write(`{\n${commands}\n} < /dev/null\necho '${DONE}'\n`)
      while (!printed.includes(DONE)) {
        const how = await Promise.race([once(bash.stdout, 'data').then(() => 'more' as const), ended, late])
        if (how === 'more') continue
        throw new Error(`${how === 'late' ? 'it takes too long' : 'a command failed'}:\n${commands}\n── it said\n${printed}`)
      }
      return printed.slice(0, printed.indexOf(DONE))
    },
    close,
  }
}
