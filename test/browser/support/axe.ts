/** What is wrong with a page for people who use it by ear, by keyboard or with little sight, as far as a program can tell. */
import { source } from 'axe-core'
import type { Page } from 'playwright-core'

/** A page that may run nothing has no other way to ask again, and that it does so is a rule of the interface. */
const OPTIONS = { rules: { 'meta-refresh': { enabled: false } } }

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
}

/** One line for each place. The browser's own debugger brings the program in, so no policy of the page has to give way. */
export async function axeProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${source}; undefined`)
  const violations = await page.evaluate<readonly Violation[]>(`axe.run(${JSON.stringify(OPTIONS)}).then(({ violations }) => violations)`)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  )
}
