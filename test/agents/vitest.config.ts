import { defineConfig } from 'vitest/config'
import { SlowestFirst } from '../projects.ts'
import { runSeed } from '../seed.ts'

/** The first run downloads the agents, as the install script does it, so what waits for one waits long. */
export default defineConfig({
  test: {
    globalSetup: 'test/needs/setup.ts',
    setupFiles: ['test/seeded.ts', 'test/built-threads.ts'],
    provide: { seed: runSeed() },
    include: ['test/agents/**/*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
  },
})
