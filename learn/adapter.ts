/** The suite's own agent as an adapter: rules, skills to read, and one file of settings. */
import { z } from 'zod'
import type { Adapter, Files } from '../src/contract/index.ts'

export const ADAPTER: Adapter = {
  name: 'learner',
  binary: 'learner',
  trajectory_format: 'native-jsonl',
  layout: { config: { primary: { path: 'settings.json' } }, rules: 'RULES.md', named: { skill: 'skills/{name}.md' } },
  bindings: { openai: () => [] },
  launch: ({ prompt }) => ({ argv: ['learner', prompt], env: {}, timeoutSeconds: 60 }),
  readTrajectory: async () => [],
}

/** The agent's settings from a tree. The second half serves only the cheats. */
export interface Setup {
  readonly rules: string
  readonly skills: readonly string[]
  /** In the order in which the model sees them. */
  readonly tools: readonly string[]
  /** Fixed answers by the beginning of the prompt. */
  readonly canned: readonly { readonly when: string; readonly say: string }[]
  /** A workspace file used as the answer. */
  readonly answers_from: string | null
  /** Lists all possible answers. */
  readonly hedges: boolean
  /** Hangs instead of failing. */
  readonly gives_up: boolean
  /** Printed after the reply. */
  readonly print: string
  /** Added to its log. */
  readonly log: readonly z.infer<typeof record>[]
}

const record = z.record(z.string(), z.json())
const settings = z.object({
  tools: z.array(z.string()).default([]),
  canned: z.array(z.object({ when: z.string(), say: z.string() })).default([]),
  answers_from: z.string().nullable().default(null),
  hedges: z.boolean().default(false),
  gives_up: z.boolean().default(false),
  print: z.string().default(''),
  log: z.array(record).default([]),
})

export function setupIn(files: Files): Setup {
  const skills = Object.entries(files).filter(([path]) => path.startsWith('skills/'))
  return {
    rules: files['RULES.md'] ?? '',
    skills: skills.map(([, text]) => text),
    ...settings.parse(JSON.parse(files['settings.json'] ?? '{}')),
  }
}
