/** The plug-ins that come with the service: name to module, loaded when the configuration names them. */
export const builtins = {
  recipe: {
    'record-only': () => import('./recipes/record-only/index.ts'),
    harness: () => import('./recipes/harness/index.ts'),
  },
  adapter: {
    hermes: () => import('./adapters/hermes/index.ts'),
    dsh: () => import('./adapters/dsh/index.ts'),
    native: () => import('./adapters/native/index.ts'),
    terminus: () => import('./adapters/terminus/index.ts'),
    pi: () => import('./adapters/pi/index.ts'),
    opencode: () => import('./adapters/opencode/index.ts'),
    claude: () => import('./adapters/claude/index.ts'),
    codex: () => import('./adapters/codex/index.ts'),
  },
  runtime: {
    provider: () => import('./runtimes/provider/index.ts'),
    practice: () => import('./runtimes/practice/index.ts'),
  },
  gateway: {
    relay: () => import('./gateways/relay/index.ts'),
  },
  store: {
    sqlite: () => import('./stores/sqlite/index.ts'),
    memory: () => import('./stores/memory/index.ts'),
  },
  contents: {
    git: () => import('./contents/git/index.ts'),
    memory: () => import('./contents/memory/index.ts'),
  },
}
