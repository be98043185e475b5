/** A real browser; a test fails on foreign requests, injected scripts and policy violations of its pages. */
import { chromium, type Browser, type BrowserContext, type Locator, type Page, type Response } from 'playwright-core'
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

export interface OpenedPage {
  readonly page: Page
  /** The answer that the page was loaded from. */
  readonly answer: Response | null
  /** All requested URLs so far. */
  readonly asked: readonly string[]
}

interface PageOptions {
  readonly width?: number
  /** Console messages that the test causes, such as of a refusal. */
  readonly expects?: RegExp
  /** Another origin that the page leads to, such as that of a sign-in. */
  readonly leadsTo?: string
  /** Runs before the scripts of the page. */
  readonly script?: string
}

/** One browser per test file; each page has a new profile, and is checked when its test ends. */
export function browserOfFile(): (url: string, options?: PageOptions) => Promise<OpenedPage> {
  let browser: Browser | null = null
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program('chromium-headless-shell'), args: ARGUMENTS })
  })
  afterAll(() => browser?.close())
  return async (url, { width = 1280, expects = /^$/, script = '', leadsTo } = {}) => {
    if (browser === null) throw new Error('the browser is started before the first test')
    const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce' })
    await context.addInitScript(`${ALARM};${script}`)
    const asked = watch(context, [new URL(url).origin, ...(leadsTo === undefined ? [] : [leadsTo])], expects)
    const page = await context.newPage()
    return { page, asked, answer: await page.goto(url) }
  }
}

function watch(context: BrowserContext, origins: readonly string[], expected: RegExp): readonly string[] {
  const asked: string[] = []
  const complaints: string[] = []
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
    const strangers = asked.filter((url) => !origins.some((origin) => isOwn(url, origin)))
    const unexpected = complaints.filter((complaint) => !expected.test(complaint))
    expect({ strangers, unexpected }).toEqual({ strangers: [], unexpected: [] })
  })
  return asked
}

/** Inline images are not requests. */
const isOwn = (url: string, origin: string): boolean => url.startsWith(`${origin}/`) || url.startsWith('data:image/')

/** The link to a step in the list of a scenario's steps: plots have links of the same name. */
export const stepLink = (page: Page, name: string): Locator =>
  page.getByRole('list', { name: 'Steps, newest first' }).getByRole('link', { name, exact: true })
