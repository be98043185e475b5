/** The plug-ins that come with the service: name to module, loaded when the configuration names them. */
export const builtins = {
  recipe: {
    'record-only': () => import('./recipes/record-only/index.ts'),
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
