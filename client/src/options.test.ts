/** What the command line takes, and how it says no. */
import { describe, expect, it } from 'vitest'
import { main } from './main.ts'
import { parseOptions } from './options.ts'

const GOOD = ['import', 'x.jsonl', '--url', 'https://host/base/', '--scenario', ' s ']

describe('options', () => {
  it('have the documented defaults [importer.batch-size] [importer.batch-bytes] [importer.retries]', () => {
    expect(parseOptions(GOOD, {})).toMatchObject({
      url: 'https://host/base',
      scenario: 's',
      batchRecordsMax: 128,
      batchBytesMax: 524_288,
      retries: 3,
      json: false,
      token: null,
      progress: expect.stringMatching(/x\.jsonl\.reef-import\.json$/) as unknown,
    })
  })

  it.each([
    ['no command', [], /say what to do/],
    ['another command', ['export'], /no command export/],
    ['no file', ['import'], /name the file/],
    ['two files', [...GOOD, 'y.jsonl'], /one file at a time/],
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
    expect(err).toContain("Try 'svc-client --help'")
  })

  it.each([
    ['--batch-size', '1'],
    ['--batch-size', '1000'],
    ['--max-batch-bytes', '128'],
    ['--max-batch-bytes', '1048575'],
    ['--retries', '0'],
  ])('take %s %s', (option, value) => {
    expect(parseOptions([...GOOD, option, value], {})).not.toBeNull()
  })

  it('never show a token that cannot be sent', async () => {
    const { code, err } = await run(GOOD, { SVC_TOKEN: 'se cret' })
    expect(code).toBe(2)
    expect(err).toContain('SVC_TOKEN')
    expect(err).not.toContain('cret')
  })

  it.each([[['--help']], [['import', '--help']], [['-h']]])('explain themselves on %s', async (argv) => {
    const { code, out } = await run(argv)
    expect(code).toBe(0)
    for (const word of ['--url', '--scenario', '--batch-size', '--max-batch-bytes', '--retries', '--progress', '--json', 'SVC_TOKEN']) {
      expect(out).toContain(word)
    }
  })
})

async function run(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await main(argv, env, { stdout: { write: (text) => (out += text) }, stderr: { write: (text) => (err += text) } })
  return { code, out, err }
}
