import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'plugins/**/*.test.ts',
      'client/**/*.test.ts',
      'learn/**/*.test.ts',
      'console/**/*.test.ts',
      'scripts/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**', 'test/agents/**', 'test/browser/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
  },
})
