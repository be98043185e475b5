/** Whether npm reaches its registry. Plain JavaScript for Node 18 and newer, dependencies none. */
import { spawn } from 'node:child_process'

/** A slow network answers one short question long before that. */
const PATIENCE_MILLISECONDS = 60_000
const SOON_MILLISECONDS = 5000
/** npm itself would try for minutes. */
const RETRIES = ['--fetch-retries=2', '--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=2000']
/** Whatever the registry answers, it is there. */
const ANSWERED = /^E\d{3}$/

/**
 * Null, or why the registry cannot be reached. npm looks, since it alone knows the registry, the proxy and the certificates that it is set up
 * with. When it takes long, `tellWaiting` is called.
 */
export function registryProblem({ program, before, shell }, env, tellWaiting, patienceMilliseconds = PATIENCE_MILLISECONDS) {
  return new Promise((resolve) => {
    const words = [...before, 'ping', ...RETRIES, '--loglevel=error', '--no-update-notifier']
    const child = spawn(program, words, { env, shell, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (part) => (said += part))
    const soon = setTimeout(() => tellWaiting(), Math.min(SOON_MILLISECONDS, patienceMilliseconds))
    const late = setTimeout(() => child.kill('SIGKILL'), patienceMilliseconds)
    const end = (problem) => {
      clearTimeout(soon)
      clearTimeout(late)
      resolve(problem)
    }
    child.on('error', (error) => end(`npm does not start: ${error.message}`))
    child.on('exit', (code, signal) => {
      const problem = /\bcode (\S+)/.exec(said)?.[1] ?? `npm ping ended with ${code ?? signal}`
      if (signal === 'SIGKILL') end(`no answer within ${patienceMilliseconds / 1000} s`)
      else end(code === 0 || ANSWERED.test(problem) ? null : problem)
    })
  })
}
