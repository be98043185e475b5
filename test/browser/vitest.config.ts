import { defineConfig } from 'vitest/config'

/** A page on a busy machine takes its time, and the first run may have to install the browser; a test that waits in vain still ends. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    expect: { poll: { timeout: 30_000 } },
  },
})
