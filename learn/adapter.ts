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

/** What a tree makes of the agent. The second half is what nobody needs but cheats. */
export interface Setup {
  readonly rules: string
  readonly skills: readonly string[]
  /** By name, in the order in which the model is offered them. */
  readonly tools: readonly string[]
  /** Said instead of thinking where the prompt begins so. */
  readonly canned: readonly { readonly when: string; readonly say: string }[]
  /** A file of the workspace that is taken for the answer. */
  readonly answers_from: string | null
  /** Names everything that the answer could be. */
  readonly hedges: boolean
  /** Hangs where it would fail. */
  readonly gives_up: boolean
  /** Printed after the reply. */
  readonly print: string
  /** Put into its own log. */
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
