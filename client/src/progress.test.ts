/** What a watching person sees, and that nobody else sees anything. */
import { expect, it } from 'vitest'
import { showProgress } from './progress.ts'

it('shows nothing without a terminal', () => {
  const written: string[] = []
  const progress = showProgress({ write: (text) => written.push(text) }, 100)
  progress.at(50, 5)
  progress.note('trouble')
  progress.end()
  expect(written).toEqual([])
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
