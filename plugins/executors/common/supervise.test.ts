import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { supervise } from './supervise.ts'

/** Longer than last words are waited for. */
const BUSY_MS = 1300

const block = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS)

it('what a command printed is heard by a thread that was busy when it came', async () => {
  const child = spawn('/bin/sh', ['-c', '(sleep 0.3; echo words; exec sleep 30) &'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGKILL'))
  const ended = await supervise(child, {
    timeoutSeconds: 60,
    signal: new AbortController().signal,
    kill: () => undefined,
    allEnded: async () => void setImmediate(block),
    watch: () => () => undefined,
  })
  expect(ended).toEqual({ exitCode: 0, stdout: 'words\n', stderr: '' })
})
