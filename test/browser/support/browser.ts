/** A real browser, whose visits fail on foreign requests, injected scripts and policy violations. */
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { program } from '../../support/programs.ts'
import { RAN } from './hostile.ts'

/** The browser itself must not send requests. */
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
  /** All requested URLs so far. */
  readonly asked: readonly string[]
  /** Expects console messages that match, such as of a refusal that the test causes. */
  readonly expects: (complaint: RegExp) => void
}

export interface VisitOptions {
  readonly width?: number
}

/** One browser per test file; each visit has a new profile, and is checked when its test ends. */
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

/** Inline images are not requests. */
const isOwn = (url: string, origin: string): boolean => url.startsWith(`${origin}/`) || url.startsWith('data:image/')
