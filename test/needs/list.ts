/** What tests need of the machine beside Node, npm and git, and which tests need it. Paths are from the root; a folder ends with a slash. */

interface Need {
  /** The Debian packages it comes in. */
  readonly packages: readonly string[]
  readonly tests: readonly string[]
}

const SANDBOXED = [
  'test/evolution/',
  'test/crash/evolution/',
  'test/agents/',
  'plugins/executors/sandbox/',
  'plugins/evaluators/verify/',
] as const

/** Programs, by the name they are started by. */
const PROGRAMS = {
  bash: { packages: ['bash'], tests: ['test/install/', 'test/spec/', 'test/docs/', 'src/cli/completion/'] },
  busybox: { packages: ['busybox'], tests: ['test/install/'] },
  bwrap: { packages: ['bubblewrap'], tests: SANDBOXED },
  'chromium-headless-shell': { packages: ['chromium-headless-shell'], tests: ['test/browser/'] },
  curl: { packages: ['curl'], tests: ['test/install/', 'test/docs/', 'test/agents/'] },
  dash: { packages: ['dash'], tests: ['test/install/', 'test/spec/'] },
  fish: { packages: ['fish'], tests: ['src/cli/completion/'] },
  ksh: { packages: ['ksh93u+m'], tests: ['test/install/'] },
  mksh: { packages: ['mksh'], tests: ['test/install/'] },
  promtool: { packages: ['prometheus'], tests: ['test/deploy/monitoring.test.ts'] },
  script: { packages: ['bsdutils'], tests: ['src/cli/terminal.test.ts'] },
  strace: { packages: ['strace'], tests: ['plugins/stores/sqlite/durability.test.ts'] },
  'systemd-analyze': { packages: ['systemd'], tests: ['test/deploy/'] },
  yash: { packages: ['yash'], tests: ['test/install/'] },
  zsh: { packages: ['zsh'], tests: ['src/cli/completion/', 'test/install/'] },
} as const satisfies Readonly<Record<string, Need>>

const COMPARED = ['test/numbers/'] as const
const TRAINED = ['test/cluster/weights.test.ts', 'test/weights/', 'test/docs/weights.test.ts'] as const

const IN_POSTGRES = ['plugins/stores/postgres/', 'src/cli/copy/postgres.test.ts', 'test/cluster/'] as const

/** `npm test` has the other tests of that folder, and makes nothing with Go. */
const IN_BUCKETS = ['bounded', 'index', 'lent-keys', 'trouble'].map((name) => `plugins/contents/s3/${name}.test.ts`)

/** What is no program: a library, and what is made with programs. */
const OTHERS = {
  /** The second package makes the first fast: without it every product of matrices is computed by the slowest of programs. */
  torch: { packages: ['python3-torch', 'libopenblas0-pthread'], tests: [...TRAINED, ...COMPARED] },
  peft: { packages: [], tests: COMPARED },
  llama: { packages: [], tests: [...TRAINED, 'scripts/tiny-model/llama.test.ts'] },
  /** The programs of a server, which Debian puts beside PATH, and what the store reaches it with. */
  postgres: { packages: ['postgresql'], tests: IN_POSTGRES },
  pg: { packages: [], tests: IN_POSTGRES },
  /** The types of a dashboard, as Grafana publishes them. */
  'grafana schema': { packages: [], tests: ['test/deploy/monitoring.test.ts'] },
  /** OpenTelemetry's collector. Made with Go. */
  collector: { packages: [], tests: ['test/ops/collector.test.ts'] },
  /** An S3 server. Made with Go, of whatever version is on the machine. */
  versitygw: { packages: [], tests: [...IN_BUCKETS, 'src/cli/export/s3.test.ts', 'test/cluster/'] },
  'tiny model': { packages: [], tests: [...TRAINED, ...COMPARED] },
} as const satisfies Readonly<Record<string, Need>>

export const NEEDS = { ...PROGRAMS, ...OTHERS }

export type ProgramName = keyof typeof PROGRAMS
export type NeedName = keyof typeof NEEDS

export const NAMES = Object.keys(NEEDS).filter((name): name is NeedName => name in NEEDS)

export const isProgram = (name: string): name is ProgramName => name in PROGRAMS

/** What at least one of these test files needs. */
export function needsOf(files: readonly string[]): readonly NeedName[] {
  return NAMES.filter((name) => files.some((file) => NEEDS[name].tests.some((path) => isUnder(file, path))))
}

const isUnder = (file: string, path: string): boolean => (path.endsWith('/') ? file.startsWith(path) : file === path)
