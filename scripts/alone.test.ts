import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../test/support/folder.ts'

/** A process that works in its turn: it says when it waits, when it works, and works until its input ends. */
function start(file: string) {
  const program = `
    import { text } from 'node:stream/consumers'
    import { alone } from ${JSON.stringify(join(import.meta.dirname, 'alone.mjs'))}
    const work = async () => { console.log('works'); if ((await text(process.stdin)) === 'fail') throw new Error('no disk') }
    await alone(${JSON.stringify(file)}, work, (pid) => console.log('waits for', pid))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, said: text(child.stdout), failed: text(child.stderr), saidFirst: once(child.stdout, 'data').then(String) }
}

test('the second process reports that it waits, and works once the first is done', async () => {
  const file = join(temporaryFolder(), 'busy')
  const first = start(file)
  expect(await first.saidFirst).toBe('works\n')
  const second = start(file)
  expect(await second.saidFirst).toBe(`waits for ${first.child.pid}\n`)
  second.child.stdin.end()
  first.child.stdin.end()
  expect(await second.said).toBe(`waits for ${first.child.pid}\nworks\n`)
  expect(existsSync(file)).toBe(false)
})

test('a killed process keeps no other from working', async () => {
  const file = join(temporaryFolder(), 'busy')
  const killed = start(file)
  await killed.saidFirst
  killed.child.kill('SIGKILL')
  await once(killed.child, 'exit')
  expect(existsSync(file)).toBe(true)
  const next = start(file)
  next.child.stdin.end()
  expect(await next.said).toBe('works\n')
  expect(existsSync(file)).toBe(false)
})

test('work that fails makes room for the next', async () => {
  const file = join(temporaryFolder(), 'busy')
  const { child, failed } = start(file)
  child.stdin.end('fail')
  expect(await failed).toContain('no disk')
  expect(existsSync(file)).toBe(false)
})

test('a place that cannot be written to is a failure, and no process waits for it', async () => {
  const file = join(temporaryFolder(), 'a file')
  writeFileSync(file, '')
  const { child, said, failed } = start(join(file, 'busy'))
  child.stdin.on('error', () => undefined).end()
  expect(await failed).toContain('ENOTDIR')
  expect(await said).toBe('')
})
