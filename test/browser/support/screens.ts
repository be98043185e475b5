/** Checks a page at phone and desktop widths, light and dark: layout, accessibility, and screenshots. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const require = createRequire(import.meta.url)
/** A page reads it anew each time, so it is the small one. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** The interface requires pages without scripts to refresh themselves. What is in order need not be described. */
const OPTIONS = { rules: { 'meta-refresh': { enabled: false } }, resultTypes: ['violations'] }

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
}

/** Not under version control. */
const FOLDER = join(import.meta.dirname, '..', '..', '..', 'screenshots')
const HEIGHT = 900
const ALL_LOOKS = [
  { width: 360, scheme: 'light', isExamined: true },
  { width: 360, scheme: 'dark', isExamined: false },
  // The widest window in which the views are behind one button.
  { width: 1080, scheme: 'dark', isExamined: false },
  { width: 1600, scheme: 'light', isExamined: false },
  { width: 1600, scheme: 'dark', isExamined: true },
] as const
/** `BROWSER_LOOKS=short` takes no screenshots, examines each screen in one look, by turns in the first and in the last, and a few of those alike. */
export const IS_SHORT = process.env['BROWSER_LOOKS'] === 'short'
const EXAMINED = ALL_LOOKS.filter(({ isExamined }) => isExamined)
let turn = 0

function looksNow(): readonly (typeof ALL_LOOKS)[number][] {
  if (!IS_SHORT) return ALL_LOOKS
  turn += 1
  return EXAMINED.filter((_look, place) => place === turn % EXAMINED.length)
}

/** Leaves `screenshots/<name>-<width>-<scheme>.png`. */
export async function expectScreensFit(page: Page, name: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  for (const { width, scheme, isExamined } of looksNow()) {
    await page.setViewportSize({ width, height: HEIGHT })
    await page.emulateMedia({ colorScheme: scheme })
    await expectNoSidewaysScroll(page)
    if (!IS_SHORT) await takePicture(page, `${name}-${width}-${scheme}.png`)
    // These two cover both palettes and both layouts.
    if (isExamined) expect({ name, width, scheme, problems: await axeProblems(page) }).toEqual({ name, width, scheme, problems: [] })
  }
}

async function takePicture(page: Page, file: string): Promise<void> {
  // An overlay covers only the window.
  const fullPage = (await page.locator('dialog[open]').count()) === 0
  await page.screenshot({ path: join(FOLDER, file), fullPage })
}

/** Wide content must scroll in its own container. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [content, window] = await page.evaluate<readonly [number, number]>('[document.documentElement.scrollWidth, innerWidth]')
  expect(content).toBeLessThanOrEqual(window)
}

/** One line per problem. Injected through the debugger, so that the page's policy stays intact. */
export async function axeProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${AXE}; undefined`)
  const violations = await page.evaluate<readonly Violation[]>(`axe.run(${JSON.stringify(OPTIONS)}).then(({ violations }) => violations)`)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  )
}
