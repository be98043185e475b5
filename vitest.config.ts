import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: 'test/needs/setup.ts',
    include: [
      'src/**/*.test.ts',
      'plugins/**/*.test.ts',
      '{client,agent,native}/**/*.test.ts',
      'learn/**/*.test.ts',
      'console/**/*.test.ts',
      'scripts/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**', 'test/agents/**', 'test/browser/**', 'test/frameworks/**', 'test/package/**'],
    testTimeout: 60_000,
    // A service with its engine and its trainer takes its time to start on a busy machine.
    hookTimeout: 600_000,
    maxWorkers: 3,
  },
})
