/** The first program in a sandbox, here without one: it ends with the service, also where bubblewrap did not notice. */
import assert from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../test/support/listen.ts'

const INNER = fileURLToPath(new URL('./entries/inner.mjs', import.meta.url))

async function started(argv: readonly string[]) {
  const program = spawn(process.execPath, [INNER], { stdio: ['pipe', 'pipe', 'inherit', 'ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void program.kill('SIGKILL'))
  const order = { argv, env: { PATH: process.env['PATH'] }, socket: '/nowhere', port: await freePort(), niceness: 0 }
  const { stdin, stdout } = program
  assert(stdin !== null && stdout !== null)
  return { program, stdin, stdout, order: `${JSON.stringify(order)}\n` }
}

it('ends when the service ends before it gave an order', async () => {
  const { program, stdin } = await started(['true'])
  stdin.end()
  expect(await once(program, 'exit')).toEqual([127, null])
})

it('ends when the service ends while the command runs, and passes its exit code on otherwise', async () => {
  const { program, stdin, stdout, order } = await started(['sh', '-c', 'echo $$; exec sleep 600'])
  stdin.write(order)
  const [pid]: unknown[] = await once(stdout, 'data')
  onTestFinished(() => void process.kill(Number(pid), 'SIGKILL'))
  stdin.end()
  expect(await once(program, 'exit')).toEqual([127, null])

  const other = await started(['sh', '-c', 'exit 7'])
  other.stdin.write(other.order)
  expect(await once(other.program, 'exit')).toEqual([7, null])
})
