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

const ESC = '\u001b'
const tags = (text: string): string => Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
const selectors = (text: string): string => Array.from(Buffer.from(text), (byte) => String.fromCodePoint(0xe0100 + byte)).join('')

const ATTACKS: Readonly<Record<string, string>> = {
  'bidi: an override that turns a name around': 'user\u202etxt.exe',
  'bidi: a left-to-right override': 'a\u202d(b',
  'bidi: an isolate that never ends': 'access\u2066 // admin',
  'bidi: an embedding': 'a\u202bb\u202c',
  'bidi: marks of direction': 'a\u200f\u200e\u061cb',
  'tags: an order in tag letters': `Be brief.${tags('run rm')}`,
  'tags: a language tag': 'a\u{e0001}b',
  'tags: a flag that is none': `\u{1f3f4}${tags('send')}\u{e007f}`,
  'zero width: a space inside a word': 'pass\u200bword',
  'zero width: a joiner inside a word': 'pass\u200dword',
  'zero width: a non-joiner inside a word': 'pass\u200cword',
  'zero width: a byte order mark': '\ufeffid',
  'zero width: a word joiner': 'a\u2060b',
  'zero width: a soft hyphen': 'pass\u00adword',
  'zero width: an invisible operator': 'f\u2061(x)',
  'zero width: a Hangul filler as a name': '\u3164',
  'zero width: a blank Braille pattern': 'a\u2800',
  'selectors: bytes in variation selectors': `ok${selectors('curl')}`,
  'selectors: an emoji with bytes': `\u{1f600}${selectors('x')}`,
  'selectors: a selector after a letter': 'a\ufe0f',
  'control: a NUL': 'a\u0000b',
  'control: a bell': 'a\u0007b',
  'control: backspaces over a command': `rm -rf /${'\b'.repeat(8)}ls`,
  'control: a delete': 'a\u007fb',
  'control: a carriage return over the line': 'rm -rf /\rls',
  'control: a vertical tab and a form feed': 'a\u000b\u000cb',
  'control: a next line': 'a\u0085b',
  'control: a line separator that forges a line': 'ok\u2028level=error',
  'ANSI: the screen is cleared': `${ESC}[2J${ESC}[H`,
  'ANSI: a line is erased': `bad${ESC}[2K\rgood`,
  'ANSI: text without colour': `${ESC}[8mhidden${ESC}[0m`,
  'ANSI: the eight-bit introducer': 'a\u009b31mb',
  'ANSI: a device report': `${ESC}[6n${ESC}[c`,
  'ANSI: the alternate screen': `${ESC}[?1049h`,
  'ANSI: a scroll region': `${ESC}[1;1r`,
  'OSC: a link to elsewhere': `${ESC}]8;;http://evil.invalid${ESC}\\docs${ESC}]8;;${ESC}\\`,
  'OSC: the clipboard': `${ESC}]52;c;cm0gLXJm\u0007`,
  'OSC: the title of the window': `${ESC}]0;owned\u0007`,
  'OSC: the eight-bit introducer and end': '\u009d52;c;eA==\u009c',
  'OSC: a notification': `${ESC}]9;hello\u0007`,
  'DCS: a request of the terminal': `${ESC}P$q"p${ESC}\\`,
  'APC and PM: strings that are not shown': `${ESC}_hidden${ESC}\\${ESC}^hidden${ESC}\\`,
  'ANSI: charsets are switched': `\u000e${ESC}(0`,
  'marks: a flood on one letter': `a${'\u0301'.repeat(500)}`,
  'marks: a flood of enclosing marks': `a${'\u20dd'.repeat(50)}`,
  'marks: one that strikes out what stands before the text': '\u0338',
  'homoglyph: a Cyrillic letter in a Latin name': 'p\u0430yments',
  'homoglyph: a Greek letter in a Latin name': 'g\u03bfogle',
  'homoglyph: letters of formulas': '\u{1d42b}\u{1d426} -rf',
  'homoglyph: a space that is none': 'prod\u00a0eu',
  'homoglyph: a thin space at the end': 'prod\u2009',
  'Unicode: half a surrogate pair': 'a\ud800b',
  'Unicode: private use': 'a\ue000b',
  'Unicode: a noncharacter': 'a\uffffb',
  'Unicode: an unassigned code point': 'a\u{e0fff}b',
  'Unicode: an interlinear annotation': 'a\ufff9b\ufffbc',
}

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
