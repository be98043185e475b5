/** A step's scores are the same numbers wherever a person reads them. The console is held to them in test/browser/console.test.ts. */
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { typeCommand } from '../src/cli/testing/surroundings.ts'
import type { JsonObject } from '../src/contract/index.ts'
import { versionPage } from '../src/pages/index.ts'
import { textIn } from '../src/pages/testing/reading.ts'
import { ROWS, versionView } from '../src/pages/testing/views.ts'
import { listenOnLoopback } from './support/listen.ts'

/** Steps that played differently much, with episodes that failed: the sums rise where the means fall. */
const STEPS: readonly { readonly metrics: JsonObject; readonly current: string; readonly candidate: string }[] = [
  { metrics: { current_score: 2, candidate_score: 7, wins: 5, losses: 0, ties: 3 }, current: '0.25', candidate: '0.875' },
  {
    metrics: { current_score: 26, candidate_score: 28, wins: 4, losses: 2, ties: 36, episode_failures: 9 },
    current: '0.619',
    candidate: '0.667',
  },
  {
    metrics: { current_score: 30, candidate_score: 41, current_mean_score: 0.5, candidate_mean_score: 0.6, wins: 9, losses: 3, ties: 48 },
    current: '0.5',
    candidate: '0.6',
  },
]

const rows = [{ metrics: {} }, ...STEPS].map(({ metrics }, step) => ({
  ...ROWS[0],
  step,
  release_id: String(step).repeat(40),
  content_id: 'c',
  parent_release_id: null,
  operation: step === 0 ? ('create' as const) : ('train' as const),
  recorded_at: 1,
  pending: false,
  restorable: true,
  current: step === STEPS.length,
  result: 'published' as const,
  metrics,
}))

async function terminal(words: readonly string[]): Promise<string> {
  const answers: Readonly<Record<string, object>> = {
    '/svc/scenarios': { scenarios: [{ scenario: 'shop', loaded: true, recipe: 'harness' }] },
    '/svc/scenarios/shop/releases?limit=100': { releases: rows.toReversed() },
  }
  const server = createServer((request, response) => response.end(JSON.stringify(answers[request.url ?? ''] ?? {})))
  onTestFinished(() => void server.close())
  return (await typeCommand(`http://127.0.0.1:${await listenOnLoopback(server)}`, words)).out
}

it('the terminal and the page of a version print the same mean per episode', async () => {
  const out = await terminal(['releases', 'shop'])
  for (const [place, { current, candidate }] of STEPS.entries()) {
    expect(out).toContain(`${current} → ${candidate}`)
    const page = textIn(versionPage(versionView(place + 1, { rows })))
    expect(page).toMatch(new RegExp(String.raw`Current score\s*${current}\s*Candidate score\s*${candidate}(?!\d)`))
    expect(page).toContain('A score is the mean per episode')
  }
})

it('the line of scores falls where the mean falls, although the sums rise', async () => {
  const [heading] = (await terminal(['releases', 'shop'])).split('\n')
  expect(heading).toContain('scores ▁█▆▅ 0.25 to 0.6')
})
