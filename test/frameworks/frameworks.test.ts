/** The programs of docs/clients.md for frameworks that hide receipts, run with the real packages: each report is about its own exchanges. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../../src/contract/index.ts'
import { world, type World } from '../support/world.ts'
import { pythonWithFrameworks } from './python.ts'

const TOKEN = 'the-service-token'
const authorization = { authorization: `Bearer ${TOKEN}` }
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/clients.md'), 'utf8')
const SECTION = PAGE.slice(PAGE.indexOf('## Frameworks'), PAGE.indexOf('## From the command line'))
const [BEGINNING = '', ...PROGRAMS] = [...SECTION.matchAll(/```python\n([\s\S]*?)```/g)].map(([, code = '']) => code)
const NAMES = [...SECTION.matchAll(/^### (.+)$/gm)].map(([, name = '']) => name)

let here: World
let python: string
beforeAll(async () => {
  python = await pythonWithFrameworks()
  here = await world({ backend: 'sqlite', settings: { 'svc.token': TOKEN, 'inference.runtime': 'practice' } })
})
afterAll(() => here.close())

const rowsOf = async (type: string): Promise<readonly JsonObject[]> => {
  const { records = null } = (await here.get(`/svc/scenarios/frameworks/records?request_type=${type}&limit=100`, authorization)).json
  return Array.isArray(records) ? records.filter(isObject) : []
}

it('every framework of the page has its program', () => {
  expect(NAMES).toEqual(['LangChain', 'Pydantic AI', 'LiteLLM', 'OpenAI Agents', 'Anthropic'])
  expect(PROGRAMS).toHaveLength(NAMES.length)
})

it.each(PROGRAMS.map((program, index) => [NAMES[index] ?? '', program] as const))(
  '%s: its reports quote the exchanges of its run, all of them and no others',
  async (_name, program) => {
    const before = { exchanges: (await rowsOf('inference')).length, reports: (await rowsOf('report')).length }
    const env = { PATH: process.env['PATH'] ?? '', HOME: here.directory, SVC_URL: here.address, SVC_TOKEN: TOKEN }
    await promisify(execFile)(python, ['-c', BEGINNING + program], { env, cwd: here.directory })
    const exchanges = (await rowsOf('inference')).slice(before.exchanges).map((row) => row['agent_record_id'])
    const quoted = (await rowsOf('report')).slice(before.reports).flatMap((row) => row['references'])
    expect(exchanges.length).toBeGreaterThan(0)
    expect(quoted).toEqual(exchanges)
  },
)
