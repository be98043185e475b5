import { expect, test } from 'vitest'
import { openTerminal } from './terminal.ts'

const stream = (isTTY?: boolean) => {
  const written: string[] = []
  return { written, write: (text: string) => written.push(text), ...(isTTY === undefined ? {} : { isTTY }) }
}

test('no person is asked where the output is no terminal', () => {
  expect(openTerminal({ stdout: stream(), stderr: stream(true) }).interactive).toBe(false)
})

test('work under way is one plain line where nothing can move', async () => {
  const [stdout, stderr] = [stream(), stream()]
  const answer = await openTerminal({ stdout, stderr }).during('installing', () => Promise.resolve(7))
  expect([answer, stdout.written, stderr.written]).toEqual([7, [], ['installing ...\n']])
})

test('a spinner leaves an empty line behind, also when the work fails', async () => {
  const stderr = stream(true)
  const work = openTerminal({ stdout: stream(), stderr }).during('installing', () => Promise.reject(new Error('no')))
  await expect(work).rejects.toThrow('no')
  expect([stderr.written[0], stderr.written.at(-1)]).toEqual(['\r| installing', '\r\u001b[K'])
})

test('what a terminal would obey or hide is shown by number, and JSON stays JSON', () => {
  const [stdout, stderr] = [stream(), stream()]
  const terminal = openTerminal({ stdout, stderr })
  const hostile = 'rm -rf x\r\u001b[2Kls \u202e'
  terminal.print(hostile)
  terminal.warn(hostile)
  terminal.printJson({ check: hostile })
  expect(stderr.written).toEqual(['rm -rf x[U+000D][U+001B][2Kls [U+202E]\n'])
  expect(stdout.written).toEqual([...stderr.written, `${String.raw`{"check":"rm -rf x\r\u001b[2Kls \u202e"}`}\n`])
})
