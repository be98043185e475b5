import { defineConfig } from 'vitest/config'
import { projectFiles, SlowestFirst } from './test/projects.ts'
import { runSeed } from './test/seed.ts'

const { pure, service, long, machine, statistics } = projectFiles()

export default defineConfig({
  test: {
    globalSetup: 'test/needs/setup.ts',
    setupFiles: ['test/seeded.ts', 'test/built-threads.ts'],
    provide: { seed: runSeed() },
    testTimeout: 60_000,
    // A service with its engine and its trainer takes its time to start on a busy machine.
    hookTimeout: 600_000,
    maxWorkers: 3,
    // Beside the other caches: a checkout may be read-only but for them.
    fsModuleCachePath: 'node_modules/.cache/vitest',
    sequence: { sequencer: SlowestFirst },
    projects: [
      { extends: true, test: { name: 'pure', ...pure, pool: 'threads', isolate: false } },
      { extends: true, test: { name: 'service', ...service, pool: 'forks', isolate: false } },
      { extends: true, test: { name: 'long', ...long, pool: 'forks', isolate: false } },
      { extends: true, test: { name: 'machine', ...machine, pool: 'forks' } },
      { extends: true, test: { name: 'statistics', ...statistics, pool: 'threads' } },
    ],
  },
})
