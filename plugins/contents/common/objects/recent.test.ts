/** What is remembered of contents, and what is not. */
import { expect, it } from 'vitest'
import { RecentContents } from './recent.ts'

const files = (characters: number): { a: string } => ({ a: 'x'.repeat(characters) })

it('the longest unread goes first when there is no room for all', () => {
  const recent = new RecentContents(10_000)
  recent.put('one', files(2000))
  recent.put('two', files(2000))
  recent.get('one')
  recent.put('three', files(2000))
  expect(['one', 'two', 'three'].map((id) => recent.get(id) !== undefined)).toEqual([true, false, true])
})

it('what would take all the room and more drives nothing out', () => {
  const recent = new RecentContents(10_000)
  recent.put('one', files(100))
  recent.put('huge', files(5001))
  expect([recent.get('one') !== undefined, recent.get('huge')]).toEqual([true, undefined])
})

it('many contents without files are bounded too, and one put twice counts once', () => {
  const recent = new RecentContents(10_000)
  for (let index = 0; index < 100; index += 1) recent.put('again', files(1000))
  recent.put('other', files(1000))
  expect(recent.get('again')).toBeDefined()
  for (let index = 0; index < 100; index += 1) recent.put(`empty ${index}`, {})
  expect([recent.get('again'), recent.get('empty 0')]).toEqual([undefined, undefined])
})
