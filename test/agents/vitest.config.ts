import { defineConfig } from 'vitest/config'

/** The first run downloads the agents, so what waits for one waits long. */
export default defineConfig({
  test: {
    include: ['test/agents/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 3,
  },
})
