/** Accessibility problems of a page, by axe. */
import { source } from 'axe-core'
import type { Page } from 'playwright-core'

/** The interface requires pages without scripts to refresh themselves. */
const OPTIONS = { rules: { 'meta-refresh': { enabled: false } } }

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
}

/** One line per problem. Injected through the debugger, so that the page's policy stays intact. */
export async function axeProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${source}; undefined`)
  const violations = await page.evaluate<readonly Violation[]>(`axe.run(${JSON.stringify(OPTIONS)}).then(({ violations }) => violations)`)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  )
}
