import { expect, it } from 'vitest'
import { Slots } from '../../../src/kit/index.ts'
import { Rounds } from './rounds.ts'

const never = new AbortController().signal

/** Evaluations that note who runs at the same time. */
function watched(turns = new Slots(1)) {
  const rounds = new Rounds(turns)
  const running = new Set<string>()
  const seen: string[] = []
  const ask = (name: string, isAlone = false, signal = never): Promise<string> =>
    rounds.evaluate(
      async () => {
        running.add(name)
        await Promise.resolve()
        seen.push([...running].join('+'))
        await new Promise<void>((resolve) => setImmediate(resolve))
        running.delete(name)
        return name
      },
      isAlone,
      signal,
    )
  return { ask, seen }
}

it('evaluates together what waits, and what must be alone alone', async () => {
  const { ask, seen } = watched()
  expect(await Promise.all([ask('a'), ask('b'), ask('long', true), ask('c')])).toEqual(['a', 'b', 'long', 'c'])
  expect(seen).toEqual(['a+b+c', 'a+b+c', 'a+b+c', 'long'])
})

it('keeps those together that ask again as soon as they are answered', async () => {
  const { ask, seen } = watched()
  const talk = async (name: string): Promise<void> => {
    for (let token = 0; token < 3; token += 1) await ask(name)
  }
  await Promise.all([talk('a'), talk('b')])
  expect(seen).toEqual(Array.from({ length: 6 }, () => 'a+b'))
})

it('lets go of one that gives up while it waits, also where nothing runs', async () => {
  const turns = new Slots(1)
  await turns.shut()
  const { ask, seen } = watched(turns)
  const leaving = new AbortController()
  const gone = ask('gone', false, leaving.signal)
  const stays = ask('stays')
  leaving.abort(new Error('given up'))
  await expect(gone).rejects.toThrow('given up')
  expect(() => ask('late', false, leaving.signal)).toThrow('given up')
  turns.open()
  expect([await stays, seen]).toEqual(['stays', ['stays']])
})

it('goes on after one that failed', async () => {
  const { ask } = watched()
  const rounds = new Rounds(new Slots(1))
  await expect(rounds.evaluate(() => Promise.reject(new Error('broken')), false, never)).rejects.toThrow('broken')
  expect(await rounds.evaluate(() => ask('next'), false, never)).toBe('next')
})
