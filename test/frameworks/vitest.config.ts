import { defineConfig } from 'vitest/config'

/** The first run downloads the frameworks, and each takes long to load. */
export default defineConfig({
  test: {
    include: ['test/frameworks/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
})
