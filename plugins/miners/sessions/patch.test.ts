/** Patches of apply_patch: what they say, where they fit, and hostile ones. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changesIn, patched, PATCH_CHARACTERS_MAX, type PatchChunk } from './patch.ts'

const patchOf = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')

/** The chunks of a patch of one file. */
function chunksOf(...lines: readonly string[]): readonly PatchChunk[] {
  const [change] = changesIn(patchOf('*** Update File: a', ...lines)) ?? []
  return change?.kind === 'patch' ? change.chunks : []
}
const after = (text: string, ...lines: readonly string[]): string | null => patched(text, chunksOf(...lines))

describe('a patch', () => {
  it('adds, removes, changes and moves files', () => {
    const text = patchOf(
      '*** Add File: new.txt',
      '+one',
      '+',
      '*** Delete File: old.txt',
      '*** Update File: here.txt',
      '*** Move to: there.txt',
      '@@ def f():',
      '-    pass',
      '+    return 1',
    )
    expect(changesIn(text)).toEqual([
      { kind: 'write', path: 'new.txt', text: 'one\n\n' },
      { kind: 'remove', path: 'old.txt' },
      {
        kind: 'patch',
        path: 'here.txt',
        to: 'there.txt',
        chunks: [{ after: 'def f():', old: ['    pass'], fresh: ['    return 1'], isAtEnd: false }],
      },
    ])
  })

  it.each([
    ['nothing', ''],
    ['no end', '*** Begin Patch\n*** Delete File: a'],
    ['no beginning', '*** Delete File: a\n*** End Patch'],
    ['a line that belongs to no file', patchOf('hello')],
    ['a file without changes', patchOf('*** Update File: a')],
    ['a chunk without lines', patchOf('*** Update File: a', '@@')],
    ['a line without a mark', patchOf('*** Update File: a', '@@', '-x', 'y')],
    ['a new file with a line without a mark', patchOf('*** Add File: a', 'x')],
    ['more after the end of a file', patchOf('*** Update File: a', '@@', '-x', '*** End of File', '-y')],
    ['more characters than an agent writes', patchOf('*** Add File: a', `+${'x'.repeat(PATCH_CHARACTERS_MAX)}`)],
    ['more files than an agent changes', patchOf(...Array.from({ length: 600 }, (_, n) => `*** Delete File: f${n}`))],
  ])('with %s is none', (_what, text) => expect(changesIn(text)).toBeNull())

  it.each<[what: string, before: string, lines: readonly string[], wanted: string | null]>([
    ['the lines that it names', 'a\nb\nc\n', ['@@', ' a', '-b', '+B', ' c'], 'a\nB\nc\n'],
    ['the place after its context', 'x\none\nx\ntwo\n', ['@@ one', '-x', '+y'], 'x\none\ny\ntwo\n'],
    ['several places in turn', 'x\nx\nx\n', ['@@', '-x', '+1', '@@', '-x', '+2'], '1\n2\nx\n'],
    ['the end of the file', 'x\ny\nx\n', ['@@', '-x', '+z', '*** End of File'], 'x\ny\nz\n'],
    ['a first chunk without a mark', 'a\nb\n', [' a', '+n'], 'a\nn\nb\n'],
    ['nothing but new lines, at the end', 'a\n', ['@@', '+b'], 'a\nb\n'],
    ['a file without a last line end', 'a', ['@@', '-a', '+b'], 'b\n'],
    ['blanks at the end of a line', 'a  \n', ['@@', '-a', '+b'], 'b\n'],
    ['another indentation', '\ta\n', ['@@', '-  a', '+b'], 'b\n'],
    ['an empty line for the end of the file', 'a\n', ['@@', '-a', '+b', ''], 'b\n'],
    ['a line that reads like a header', 'a\n*** Add File: x\n', ['@@', '-a', ' *** Add File: x'], '*** Add File: x\n'],
    ['lines that are not there', 'a\n', ['@@', '-b', '+c'], null],
    ['a context that is not there', 'a\n', ['@@ b', '-a'], null],
    ['lines that stand before their turn', 'a\nb\n', ['@@', '-b', '@@', '-a'], null],
    ['more lines than there are', 'a\n', ['@@', '-a', '-a', '*** End of File'], null],
    ['two chunks in each other’s way', 'a\nb\n', ['@@', '-a', '-b', '@@', '-b', '*** End of File'], null],
  ])('meets %s', (_what, before, lines, wanted) => expect(after(before, ...lines)).toBe(wanted))
})

const line = fc.string({ unit: 'grapheme-ascii', maxLength: 12 }).filter((text) => text.trim() === text && text !== '')

describe('any patch', () => {
  it('of lines that stand in a file once puts the new ones in their place, and nothing else', () => {
    const edit = fc.record({
      lines: fc.uniqueArray(line, { minLength: 1, maxLength: 30 }),
      at: fc.nat(29),
      count: fc.integer({ min: 1, max: 5 }),
      around: fc.nat(3),
      fresh: fc.array(line, { maxLength: 4 }),
    })
    fc.assert(
      fc.property(edit, ({ lines, at: place, count, around, fresh }) => {
        const at = place % lines.length
        const [above, old, below] = [
          lines.slice(Math.max(0, at - around), at),
          lines.slice(at, at + count),
          lines.slice(at + count).slice(0, around),
        ]
        const said = [
          ...above.map((text) => ` ${text}`),
          ...old.map((text) => `-${text}`),
          ...fresh.map((text) => `+${text}`),
          ...below.map((text) => ` ${text}`),
        ]
        const wanted = [...lines.slice(0, at), ...fresh, ...lines.slice(at + count)]
        expect(after(`${lines.join('\n')}\n`, '@@', ...said)).toBe(wanted.length === 0 ? '' : `${wanted.join('\n')}\n`)
      }),
    )
  })

  it('of whatever lines ends, in a change or in none', () => {
    const words = [
      '*** Begin Patch',
      '*** End Patch',
      '*** Add File: a',
      '*** Update File: a',
      '*** Delete File: ../a',
      '*** Move to: /etc/x',
      '@@',
      '@@ x',
      '+x',
      '-x',
      ' x',
      '',
      '*** End of File',
      'x',
      '\0',
      '\u2028',
    ]
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...words), fc.string()), { maxLength: 40 }),
        fc.string({ maxLength: 200 }),
        (lines, text) => {
          for (const change of changesIn(patchOf(...lines)) ?? [])
            if (change.kind === 'patch')
              expect(patched(text, change.chunks)).toSatisfy((end) => end === null || (typeof end === 'string' && /^$|\n$/.test(end)))
        },
      ),
    )
  })

  it('of very many lines that are nearly alike ends', () => {
    const text = 'x\n'.repeat(40_000)
    const chunk = { after: null, old: [...Array.from({ length: 20_000 }, () => 'x'), 'y'], fresh: [], isAtEnd: false }
    expect(patched(text, [chunk])).toBeNull()
    const many = Array.from({ length: 1000 }, () => ({ after: null, old: ['x '], fresh: ['z'], isAtEnd: false }))
    expect(patched(text, many)?.startsWith('z\nz\n')).toBe(true)
  })
})
