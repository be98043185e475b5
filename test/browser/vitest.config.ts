import { defineConfig } from 'vitest/config'

/** A page on a busy machine takes its time; a test that waits in vain still ends. */
/** The short form leaves out long sessions and large lists, and what is only there to be looked at. */
const isShort = process.env['BROWSER_LOOKS'] === 'short'

export default defineConfig({
  test: {
    globalSetup: 'test/needs/setup.ts',
    include: ['test/browser/**/*.test.ts'],
    exclude: isShort ? ['test/browser/{acts,many}.test.ts'] : [],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    expect: { poll: { timeout: 30_000 } },
  },
})
