/** A scenario whose runtime a test scripts, what it kept, and a call to it. */
import type { NewRecord, Release, Runtime } from '../../contract/index.ts'
import { parsedBody } from '../request-body.ts'
import type { Call, Serving } from '../serve.ts'

export const releaseOf = (release_id: string): Release => ({ release_id, parent_release_id: null, content_id: release_id })

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked in this test'))

/** Its head is always the same release, unless `more` has another. */
export function servingOf(infer: Runtime['infer'] = notAsked, more: Partial<Serving> = {}) {
  const records: NewRecord[] = []
  const asked: string[] = []
  const head = releaseOf('r1')
  const scenario: Serving = {
    runtime: {
      infer: (call) => {
        asked.push(call.release.release_id)
        return infer(call)
      },
      models: notAsked,
      status: notAsked,
      close: notAsked,
    },
    surface: {},
    model: { url: '', model: null, api: 'openai', apiKey: null },
    head: () => head,
    hasRelease: () => true,
    keep: (record) => Promise.resolve(records.push(record)),
    ...more,
  }
  return { scenario, records, asked }
}

/** Its clock stands still. */
export const callOf = (more: Partial<Call> = {}): Call => ({
  id: 'receipt-1',
  dialect: 'chat',
  path: '/v1/chat/completions',
  headers: {},
  request: parsedBody(Buffer.from('{}'), {}, {}),
  tags: {},
  signal: new AbortController().signal,
  retryTimeoutSeconds: 0,
  answerBytesMax: 1e9,
  clock: () => 0,
  begunAt: 0,
  ...more,
})
