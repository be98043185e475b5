/** Starts a test engine as a process, for tests that kill it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** `args` as run.ts takes them. */
export async function spawnEngine(kind: 'sglang' | 'vllm', ...args: readonly string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), kind, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const [url] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error('the engine of this test did not start'))),
  ])
  return {
    url: String(url),
    port: Number(new URL(String(url)).port),
    /** SIGKILL; resolves when it is gone. */
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
