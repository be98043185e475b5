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
    // The first that needs something large (PyTorch, a model, a runtime) has it installed or made, and others wait for it.
    hookTimeout: 600_000,
    maxWorkers: 3,
  },
})
