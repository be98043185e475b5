/** Shows a text in the person's pager where it is longer than the screen. */
import { spawn } from 'node:child_process'
import type { Environment } from '../config/index.ts'
import { ENV } from '../contract/index.ts'

interface Screen {
  /** 0 where there is no terminal. */
  readonly rows: number
  readonly environment: Environment
  readonly print: (text: string) => void
}

export function page(text: string, { rows, environment, print }: Screen): Promise<void> {
  const command = environment['PAGER'] ?? 'less'
  const isLong = rows > 0 && text.split('\n').length >= rows
  if (!isLong || command === '' || command === 'cat' || environment['TERM'] === 'dumb') {
    print(text)
    return Promise.resolve()
  }
  const { [ENV.token]: _token, LESS = 'FRX', ...env } = environment
  return throughPager(command, text, { ...env, LESS }).catch(() => print(text))
}

/** As shells and git take it: the variable may hold options. It ends when the person leaves the pager. */
function throughPager(command: string, text: string, env: Environment): Promise<void> {
  return new Promise((resolve, reject) => {
    // Ctrl-C belongs to the pager meanwhile.
    process.on('SIGINT', ignore)
    const pager = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'ignore'], env })
    const end = (then: () => void): void => {
      process.off('SIGINT', ignore)
      then()
    }
    pager.on('error', (error) => end(() => reject(error)))
    pager.on('close', (code) => end(() => (code === NOT_FOUND || code === NOT_RUNNABLE ? reject(new Error('no pager')) : resolve())))
    // A person may leave before the end.
    pager.stdin.on('error', ignore)
    pager.stdin.end(`${text}\n`)
  })
}

const ignore = (): void => undefined

/** What a shell answers for a command that it cannot start. */
const NOT_FOUND = 127
const NOT_RUNNABLE = 126
