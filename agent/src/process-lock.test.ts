import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { takeLock } from './process-lock.ts'

const lockIn = (): string => join(temporaryFolder(), 'lock')

const deadHolder = (): string => `${spawnSync(process.execPath, ['-e', '']).pid}-00000000-0000-0000-0000-000000000000`

it('is one process’s until it lets go', async () => {
  const path = lockIn()
  const lock = await takeLock(path)
  expect(await takeLock(path)).toBeNull()
  await lock?.release()
  expect(await takeLock(path)).not.toBeNull()
})

it('of a process that died is taken over, also when it died while taking over', async () => {
  const path = lockIn()
  const holder = deadHolder()
  symlinkSync(holder, path)
  symlinkSync(deadHolder(), `${path}.${holder.slice(-12)}`)
  expect(await takeLock(path)).not.toBeNull()
  expect(readlinkSync(path)).toMatch(new RegExp(`^${process.pid}-`))
  expect(readdirSync(join(path, '..'))).toEqual([basename(path)])
})

it('of a process that died goes to one alone of all that want it at once', async () => {
  const path = lockIn()
  symlinkSync(deadHolder(), path)
  const answers = await Promise.all(Array.from({ length: 6 }, () => contender(path)))
  expect(answers.filter((answer) => answer === 'got it')).toHaveLength(1)
})

/** Says whether it got the lock, and holds it until the test is over. */
async function contender(path: string): Promise<string> {
  const module = pathToFileURL(join(import.meta.dirname, 'process-lock.ts')).href
  const script = `import { takeLock } from ${JSON.stringify(module)}
    console.log(await takeLock(${JSON.stringify(path)}) === null ? 'busy' : 'got it')
    process.stdin.resume()`
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [answer]: unknown[] = child.stdout === null ? [] : await once(child.stdout, 'data')
  return String(answer).trim()
}
