import { expect, it } from 'vitest'
import { listedIn, textIn } from './step-files.tsx'

it('lists files of the whole step first, then episodes in the order of their numbers', () => {
  const files = ['episodes/candidate-10/episode.json', 'episodes/candidate-2/episode.json', 'mutations.json'].map((path) => ({
    path,
    bytes: 9,
  }))
  const listed = listedIn(JSON.stringify({ status: 'retained', files }))
  expect(listed.files.map(({ path }) => path)).toEqual([
    'mutations.json',
    'episodes/candidate-2/episode.json',
    'episodes/candidate-10/episode.json',
  ])
})

it('lists nothing where nothing was kept, and passes over what is no file', () => {
  expect(listedIn('{"status":"disabled","files":[]}')).toEqual({ status: 'disabled', files: [] })
  expect(listedIn('{"files":[7,{"bytes":3}]}')).toEqual({ status: '', files: [] })
})

it('reads the text of a file', () => {
  expect(textIn('{"status":"retained","path":"a.json","text":"{}"}')).toBe('{}')
  expect(textIn('[]')).toBe('')
})
