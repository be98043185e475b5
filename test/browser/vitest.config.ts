import { defineConfig } from 'vitest/config'
import { SlowestFirst } from '../projects.ts'

/** The short form leaves out long sessions, large lists, screenshots, and what reviewers and those who pin a release do step by step. */
const isShort = process.env['BROWSER_LOOKS'] === 'short'

export default defineConfig({
  test: {
    globalSetup: 'test/needs/setup.ts',
    setupFiles: 'test/built-threads.ts',
    include: ['test/browser/**/*.test.ts'],
    exclude: isShort ? ['test/browser/{acts,many,pictures,pins,review,scenarios}.test.ts'] : [],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    sequence: { sequencer: SlowestFirst },
    expect: { poll: { timeout: 30_000 } },
  },
})
