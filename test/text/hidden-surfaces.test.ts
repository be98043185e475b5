/** Text that hides, reorders or gives orders to a terminal, on every surface that shows text of others. */
import { hiddenCharacters, showHiddenLine } from '@svc-ai/client/hidden'
import { stringify } from 'yaml'
import { describe, expect, it } from 'vitest'
import { openTerminal } from '../../agent/src/terminal.ts'
import { runCommand } from '../../client/src/commands/command.ts'
import { problemOf } from '../../client/src/transport.ts'
import { visible } from '../../console/src/ui/visible.ts'
import { jsonLine, jsonText, oneLine, shellWord, shownLines } from '../../src/cli/screen/text.ts'
import { asData } from '../../src/kit/index.ts'
import { markup } from '../../src/pages/html.ts'
import { ATTACKS } from './hidden-attacks.ts'

const written = (write: (streams: { readonly stdout: Written; readonly stderr: Written }) => void): string => {
  const all: string[] = []
  const stream = { write: (text: string) => all.push(text) }
  write({ stdout: stream, stderr: stream })
  return all.join('')
}
interface Written {
  write(text: string): unknown
}

/** What each surface makes of a text of others. The text of a page is what its markup says without references. */
const SURFACES: Readonly<Record<string, (text: string) => string>> = {
  'a page': (text) => pageText(markup`<p title="${text}">${text}</p>`.text),
  'the console': visible,
  'a cell of the terminal': oneLine,
  'a record in the terminal': (text) => shownLines(stringify({ report: text }, { lineWidth: 0 })),
  'a command to paste': shellWord,
  'the wrapper': (text) =>
    written((streams) => {
      const terminal = openTerminal(streams)
      terminal.print(text)
      terminal.warn(text)
    }),
  'a name in the wrapper': showHiddenLine,
  'an error of a service in the client': (text) =>
    problemOf({ url: '', scenario: null, token: null, timeoutSeconds: 1 }, { status: 500, headers: new Headers(), text }),
  'a prompt of a proposer': (text) => asData(text, 10_000),
}

const pageText = (html: string): string =>
  html.replaceAll(/<[^>]*>/g, '').replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))

/** JSON is read by programs: it means the same, and a terminal that shows it obeys nothing. */
const JSON_SURFACES: Readonly<Record<string, (text: string) => string>> = {
  'svc --json': (text) => jsonText({ text }, 2),
  'an export': (text) => jsonLine(JSON.stringify({ text }, null, 1)),
  'the wrapper with --json': (text) => written((streams) => openTerminal(streams).printJson({ text })),
}
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u{e0000}-\u{e0fff}\ufeff\u200b-\u200d]/u

describe.each(Object.entries(SURFACES))('%s shows by number', (_, show) => {
  it.each(Object.entries(ATTACKS))('%s', (_title, text) => {
    expect(hiddenCharacters(text)).not.toEqual([])
    const shown = show(text)
    expect(hiddenCharacters(shown)).toEqual([])
    expect(shown).not.toMatch(OBEYED_LINES)
  })
})
/** Line breaks of the surface itself stay. */
const OBEYED_LINES = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/u

describe.each(Object.entries(JSON_SURFACES))('%s is JSON that means the same', (_, print) => {
  it.each(Object.entries(ATTACKS))('%s', (_title, text) => {
    const printed = print(text)
    expect(JSON.parse(printed)).toEqual({ text })
    expect(printed.replaceAll('\n', '')).not.toMatch(OBEYED)
  })
})

it('the client prints what a command found, and its failure, by number', async () => {
  for (const [, text] of Object.entries(ATTACKS)) {
    const all: string[] = []
    const stream = { write: (line: string) => all.push(line) }
    const command = {
      help: '',
      parse: () => ({ json: false }),
      about: () => ({}),
      run: () => Promise.resolve({ text, data: {} }),
    }
    await runCommand('status', command, [], {}, { stdout: stream, stderr: stream })
    expect(hiddenCharacters(all.join(''))).toEqual([])
  }
})
