/** How the console is built: plain files under /console/, nothing inlined, so that the strictest content security policy holds. */
import { join } from 'node:path'
import { defineConfig } from 'vite'

const CLIENT = join(import.meta.dirname, '..', 'client', 'src')

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  logLevel: 'warn',
  // The sources of the client, whose build may be that of before: both are made at the same time.
  resolve: {
    alias: [
      { find: /^@svc-ai\/client$/, replacement: join(CLIENT, 'index.ts') },
      { find: /^@svc-ai\/client\/(\w+)$/, replacement: join(CLIENT, '$1.ts') },
    ],
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    assetsDir: '',
    cssCodeSplit: false,
    modulePreload: false,
  },
})
