/** The outcome words of a step: the API, the pages, the console and the terminal take them from one table in the contract. */
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chainOfReleases, viewOf } from '../console/src/data/chain.ts'
import { rowOf } from '../console/src/data/testing/rows.ts'
import { typeCommand } from '../src/cli/testing/surroundings.ts'
import { STEP_OUTCOMES, STEP_RESULTS, type StepOutcome } from '../src/contract/index.ts'
import { documentOf, isDescribed } from '../src/http/openapi/document.ts'
import { routes } from '../src/http/routes.ts'
import { versionPage } from '../src/pages/index.ts'
import { textIn } from '../src/pages/testing/reading.ts'
import { ROWS, versionView } from '../src/pages/testing/views.ts'
import { listenOnLoopback } from './support/listen.ts'

const root = join(import.meta.dirname, '..')
const isHeld = (result: StepOutcome): boolean => result === 'pending'

it('are published, held, rejected, skipped and failed', () => {
  expect(Object.values(STEP_OUTCOMES).map(({ word }) => word)).toEqual(['published', 'held', 'rejected', 'skipped', 'failed'])
})

it('are in the API the results of the table, which the interface fixes', () => {
  const enums = [...JSON.stringify(documentOf(routes.filter(isDescribed))).matchAll(/"result":\{[^}]*"enum":(\[[^\]]*\])/g)]
  expect(enums.length).toBeGreaterThan(0)
  for (const [, list = ''] of enums) expect(JSON.parse(list)).toEqual([...STEP_RESULTS])
})

describe.each(STEP_RESULTS)('a step whose result is %s', (result) => {
  const { word, title } = STEP_OUTCOMES[result]

  it('has its title and its word on its page', () => {
    const rows = ROWS.map((row) => (row.step === 2 ? { ...row, result, pending: isHeld(result) } : row))
    const page = versionPage(versionView(2, { rows }))
    expect(page).toContain(`<span>${title}</span></p>`)
    expect(textIn(page).toLowerCase()).toContain(`result ${word}.`)
  })

  it('has its word in the console', () => {
    const chain = chainOfReleases([rowOf(1, { result, pending: isHeld(result) })])
    const [step] = chain.steps
    expect(step && viewOf(chain, step).status.word.toLowerCase()).toBe(word)
  })

  it('has its word in the terminal', async () => {
    const rows = [rowOf(1, { result, pending: isHeld(result) })]
    const server = createServer((request, response) => {
      const isList = request.url === '/svc/scenarios'
      response.end(JSON.stringify(isList ? { scenarios: [{ scenario: 'demo', loaded: true, recipe: null }] } : { releases: rows }))
    })
    onTestFinished(() => void server.close())
    const { out } = await typeCommand(`http://127.0.0.1:${await listenOnLoopback(server)}`, ['releases', 'demo'])
    expect(out).toMatch(new RegExp(`^(?:v1|\\d{4}-\\d\\d-\\d\\d [\\d:]+) .*train +${word} `, 'm'))
  })
})

it('are spelt nowhere else: the titles of the version page stand in the table alone', () => {
  const titles = /'(?:Ready for review|Not selected|No changes)'/
  const files = globSync(['src/**/*.ts', 'console/src/**/*.{ts,tsx}'], { cwd: root })
  const spelling = files.filter((file) => !/\.test\.ts$|\/testing\//.test(file) && titles.test(readFileSync(join(root, file), 'utf8')))
  expect(spelling).toEqual(['src/contract/outcomes.ts'])
})

it('are each in the glossary', () => {
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  for (const { word } of Object.values(STEP_OUTCOMES)) expect(glossary).toMatch(new RegExp(`^\\| ${word} \\(outcome\\) \\|`, 'm'))
})
