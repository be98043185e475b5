/** The plug-ins that come with the service: name to module, loaded when the configuration names them. */
export const builtins = {
  recipe: {
    'record-only': () => import('./recipes/record-only/index.ts'),
    harness: () => import('./recipes/harness/index.ts'),
    weights: () => import('./recipes/weights/index.ts'),
    tttd: () => import('./recipes/tttd/index.ts'),
    'weights-and-harness': () => import('./recipes/weights-and-harness/index.ts'),
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
  proposer: {
    text: () => import('./proposers/text/index.ts'),
    reflect: () => import('./proposers/reflect/index.ts'),
    agent: () => import('./proposers/agent/index.ts'),
  },
  evaluator: {
    answer: () => import('./evaluators/answer/index.ts'),
    verify: () => import('./evaluators/verify/index.ts'),
    judge: () => import('./evaluators/judge/index.ts'),
    module: () => import('./evaluators/module/index.ts'),
  },
  selection: {
    evidence: () => import('./selections/evidence/index.ts'),
    score_comparison: () => import('./selections/score_comparison/index.ts'),
    floor: () => import('./selections/floor/index.ts'),
    always: () => import('./selections/always/index.ts'),
  },
  objective: {
    grouped: () => import('./objectives/grouped/index.ts'),
    baseline: () => import('./objectives/baseline/index.ts'),
    tttd: () => import('./objectives/tttd/index.ts'),
    dpo: () => import('./objectives/dpo/index.ts'),
    kto: () => import('./objectives/kto/index.ts'),
    sft: () => import('./objectives/sft/index.ts'),
    distill: () => import('./objectives/distill/index.ts'),
  },
  examiner: {
    always: () => import('./examiners/always/index.ts'),
    threshold: () => import('./examiners/threshold/index.ts'),
  },
  executor: {
    local: () => import('./executors/local/index.ts'),
    sandbox: () => import('./executors/sandbox/index.ts'),
  },
  miner: {
    git: () => import('./miners/git/index.ts'),
    sessions: () => import('./miners/sessions/index.ts'),
  },
  runtime: {
    provider: () => import('./runtimes/provider/index.ts'),
    practice: () => import('./runtimes/practice/index.ts'),
    llama: () => import('./runtimes/llama/index.ts'),
    sglang: () => import('./runtimes/sglang/index.ts'),
    vllm: () => import('./runtimes/vllm/index.ts'),
  },
  gateway: {
    relay: () => import('./gateways/relay/index.ts'),
  },
  redactor: {
    personal: () => import('./redactors/personal/index.ts'),
  },
  store: {
    sqlite: () => import('./stores/sqlite/index.ts'),
    memory: () => import('./stores/memory/index.ts'),
    postgres: () => import('./stores/postgres/index.ts'),
  },
  contents: {
    git: () => import('./contents/git/index.ts'),
    s3: () => import('./contents/s3/index.ts'),
    memory: () => import('./contents/memory/index.ts'),
  },
}

/** By the name of a store: what needs no settings and takes long to start, for a process that opens the store a little later. */
export const startAhead: Readonly<Record<string, () => Promise<void>>> = {
  sqlite: async () => (await import('./stores/sqlite/ahead.ts')).startWriterAhead(),
}
