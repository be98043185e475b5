/** A real browser, and visits in it that notice whatever a page should not do: ask others, run a stranger's words, break a rule of its policy. */
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { program } from '../../support/programs.ts'
import { RAN } from './hostile.ts'

/** Nothing of the browser's own may go out while a test looks at what a page asks for. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const ALARM = `Object.defineProperty(globalThis, '${RAN}', { configurable: true, set: () => console.error('a text that somebody wrote was run') })`

export interface Visit {
  readonly page: Page
  /** Every address asked for so far. */
  readonly asked: readonly string[]
  /** From now on what matches is meant to happen: a refusal that the test brings about is told on the browser's console. */
  readonly expects: (complaint: RegExp) => void
}

export interface VisitOptions {
  readonly width?: number
}

/** One browser for all tests of a file; each visit is as new as a browser that was just installed, and looked through when its test is over. */
export function browserOfFile(): (address: string, options?: VisitOptions) => Promise<Visit> {
  let browser: Browser | null = null
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program('chromium'), args: ARGUMENTS })
  })
  afterAll(() => browser?.close())
  return async (address, options = {}) => {
    if (browser === null) throw new Error('a visit needs the browser, which is started before the first test')
    const { width = 1280 } = options
    const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce' })
    await context.addInitScript(ALARM)
    return watched(context, await context.newPage(), new URL(address).origin)
  }
}

function watched(context: BrowserContext, page: Page, origin: string): Visit {
  const asked: string[] = []
  const complaints: string[] = []
  const expected: RegExp[] = []
  context.on('request', (request) => asked.push(request.url()))
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  context.on('weberror', (error) => complaints.push(String(error.error())))
  context.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss().catch(() => undefined)
  })
  onTestFinished(async () => {
    await context.close()
    const strangers = asked.filter((url) => !isOwn(url, origin))
    const unexpected = complaints.filter((complaint) => !expected.some((one) => one.test(complaint)))
    expect({ strangers, unexpected }).toEqual({ strangers: [], unexpected: [] })
  })
  return { page, asked, expects: (complaint) => void expected.push(complaint) }
}

/** Pictures that are part of a page are no question to anybody. */
const isOwn = (url: string, origin: string): boolean => url.startsWith(`${origin}/`) || url.startsWith('data:image/')
