/** How the console is built: plain files under /console/, nothing inlined, so that the strictest content security policy holds. */
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  logLevel: 'warn',
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
