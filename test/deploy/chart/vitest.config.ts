import { defineConfig } from 'vitest/config'

/** Apart from the others: Helm is made with Go, which takes minutes. */
export default defineConfig({
  test: { include: ['test/deploy/chart/*.test.ts'], testTimeout: 60_000 },
})
