/** What the command line takes, and how it says no. */
import { describe, expect, it } from 'vitest'
import { parseImport } from './commands/import.ts'
import { run } from './testing/files.ts'

const GOOD = ['import', 'x.jsonl', '--url', 'https://host/base/', '--scenario', ' s ']

describe('options', () => {
  it('have the documented defaults [importer.batch-size] [importer.batch-bytes] [importer.retries]', () => {
    expect(parseImport(GOOD.slice(1), {})).toMatchObject({
      url: 'https://host/base',
      scenario: 's',
      batchRecordsMax: 128,
      batchBytesMax: 524_288,
      retries: 3,
      json: false,
      token: null,
      progress: expect.stringMatching(/x\.jsonl\.svc-import\.json$/) as unknown,
    })
  })

  it.each([
    ['no command', [], /say what to do/],
    ['another command', ['export'], /no command export/],
    ['no file', ['import'], /name the file/],
    ['two files', [...GOOD, 'y.jsonl'], /y\.jsonl is one too many/],
    ['no url', ['import', 'x', '--scenario', 's'], /--url is missing/],
    ['no scenario', ['import', 'x', '--url', 'http://h'], /--scenario is missing/],
    ['an unknown option', [...GOOD, '--fast'], /--fast/],
    ['a url of another kind', [...GOOD, '--url', 'ftp://h'], /http or https/],
    ['no url at all', [...GOOD, '--url', 'host'], /http or https/],
    ['credentials in the url', [...GOOD, '--url', 'http://me:pw@h'], /credentials/],
    ['a query in the url', [...GOOD, '--url', 'http://h/?'], /query/],
    ['a fragment in the url', [...GOOD, '--url', 'http://h/#x'], /fragment/],
    ['a control character in the scenario', [...GOOD, '--scenario', 'a\nb'], /control/],
    ['a progress file that is the source', [...GOOD, '--progress', 'x.jsonl'], /must not name/],
    ['a batch of none', [...GOOD, '--batch-size', '0'], /1 to 1000/],
    ['a batch too large', [...GOOD, '--batch-size', '1001'], /1 to 1000/],
    ['too few bytes', [...GOOD, '--max-batch-bytes', '127'], /128 to 1048575/],
    ['too many bytes', [...GOOD, '--max-batch-bytes', '1048576'], /128 to 1048575/],
    ['half a retry', [...GOOD, '--retries', '1.5'], /whole number/],
    ['fewer than no retries', [...GOOD, '--retries=-1'], /whole number/],
  ])('refuse %s with status 2', async (_, argv, message) => {
    const { code, err } = await run(argv)
    expect(code).toBe(2)
    expect(err).toMatch(message)
    expect(err).toContain("Try 'svc-client ")
  })

  it.each([
    ['--batch-size', '1'],
    ['--batch-size', '1000'],
    ['--max-batch-bytes', '128'],
    ['--max-batch-bytes', '1048575'],
    ['--retries', '0'],
  ])('take %s %s', (option, value) => {
    expect(parseImport([...GOOD.slice(1), option, value], {})).not.toBeNull()
  })

  it('never show a token that cannot be sent', async () => {
    const { code, err } = await run(GOOD, { SVC_TOKEN: 'se cret' })
    expect(code).toBe(2)
    expect(err).toContain('SVC_TOKEN')
    expect(err).not.toContain('cret')
  })

  it.each([
    ['import', ['--url', '--scenario', '--batch-size', '--max-batch-bytes', '--retries', '--progress', 'every 5 seconds']],
    ['pull', ['--url', '--scenario', '--release', '.svc-harness-release']],
    ['report', ['--url', '--scenario', '--score', '--feedback', '--reference', '--id']],
    ['status', ['--url', '--scenario']],
  ])('of %s explain themselves on --help', async (command, words) => {
    for (const flag of ['--help', '-h']) {
      const { code, out } = await run([command, flag])
      expect(code).toBe(0)
      for (const word of [...words, '--json', 'SVC_TOKEN', 'Exit status: 0']) expect(out).toContain(word)
    }
  })

  it.each(['--help', '-h'])('of all commands are listed on %s', async (flag) => {
    const { code, out } = await run([flag])
    expect(code).toBe(0)
    for (const word of ['import', 'pull', 'report', 'status', 'SVC_TOKEN', 'Exit status: 0']) expect(out).toContain(word)
  })

  it.each([
    ['a pull without a folder', ['pull', '--url', 'http://h', '--scenario', 's'], /name the folder/],
    ['a pull into two folders', ['pull', 'a', 'b', '--url', 'http://h', '--scenario', 's'], /b is one too many/],
    ['a report without a score', ['report', '--url', 'http://h', '--scenario', 's'], /--score is missing/],
    ['a score that is no number', ['report', '--url', 'http://h', '--scenario', 's', '--score', 'good'], /finite number/],
    ['a score without end', ['report', '--url', 'http://h', '--scenario', 's', '--score', 'Infinity'], /finite number/],
    ['a blank score', ['report', '--url', 'http://h', '--scenario', 's', '--score', ' '], /finite number/],
    ['a status without a place', ['status'], /--url is missing/],
    ['a status of something', ['status', 's', '--url', 'http://h'], /s is one argument too many/],
    ['a blank scenario', ['status', '--url', 'http://h', '--scenario', ' '], /--scenario is missing/],
  ])('refuse %s with status 2', async (_, argv, message) => {
    expect(await run(argv)).toMatchObject({ code: 2, err: expect.stringMatching(message) as unknown, out: '' })
  })
})
