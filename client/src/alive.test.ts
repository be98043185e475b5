import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { isAlive } from './alive.ts'

it('a process is alive until it ends', () => {
  expect(isAlive(process.pid)).toBe(true)
  expect(isAlive(spawnSync(process.execPath, ['-e', '']).pid)).toBe(false)
})

it.each([0, -1, 1.5, Number.NaN])('%d is the number of no process', (pid) => {
  expect(isAlive(pid)).toBe(false)
})

it.runIf(existsSync('/proc/self/stat'))('a process that has ended is not alive, though its parent has not reaped it', async () => {
  // The parent becomes a program that waits for no child; then the child's input ends, and it with it.
  const script = 'exec 3<&0; cat <&3 & echo $!; exec sleep 600'
  const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void parent.kill('SIGKILL'))
  const [line]: unknown[] = await once(parent.stdout, 'data')
  const pid = Number(String(line))
  while (!statOf(parent.pid).includes('(sleep)')) await sleep(2)
  parent.stdin.end()
  while (!statOf(pid).includes(') Z ')) await sleep(2)
  expect(isAlive(pid)).toBe(false)
})

const statOf = (pid: number | undefined): string => readFileSync(`/proc/${pid}/stat`, 'latin1')
