/** What a watching person sees, and what stands in a log. */
import { expect, it } from 'vitest'
import { showProgress } from './progress.ts'

it('writes a line at most every five seconds without a terminal, notes at once, and a last one at the end', () => {
  const written: string[] = []
  let now = 0
  const progress = showProgress({ write: (text) => written.push(text) }, 1000, () => now)
  progress.at(0, 0)
  now = 4999
  progress.at(100, 1)
  progress.note('trouble')
  now = 10_000
  progress.at(500, 1234)
  now = 14_999
  progress.at(800, 2000)
  progress.at(1000, 2500)
  progress.end()
  expect(written).toEqual(['trouble\n', '50%  1,234 records  10 s left\n', '100%  2,500 records\n'])
})

it('does not repeat the last line in a log, and says nothing of an import that never began', () => {
  const written: string[] = []
  let now = 0
  const progress = showProgress({ write: (text) => written.push(text) }, 10, () => now)
  progress.end()
  expect(written).toEqual([])
  now = 5000
  progress.at(10, 1)
  progress.end()
  expect(written).toEqual(['100%  1 records\n'])
})

it('draws share, records and the time left at this speed, not more often than the eye follows', () => {
  const written: string[] = []
  let now = 0
  const progress = showProgress({ isTTY: true, columns: 100, write: (text) => written.push(text) }, 1000, () => now)
  progress.at(0, 0)
  now = 10
  progress.at(100, 1)
  now = 10_000
  progress.at(500, 1234)
  progress.note('trouble')
  progress.end()
  const lines = written.map((text) => text.replace('\r\u001b[K', ''))
  expect(lines).toEqual([
    '[                              ]   0%  0 records',
    '[###############               ]  50%  1,234 records  10 s left',
    'trouble\n',
    '',
  ])
})

it('never runs over the edge of a narrow terminal', () => {
  const written: string[] = []
  showProgress({ isTTY: true, columns: 20, write: (text) => written.push(text) }, 10).at(10, 1)
  expect(written.join('').replace('\r\u001b[K', '')).toHaveLength(19)
})
