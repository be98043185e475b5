/** Renders a tree for DeepSeek Harness: a row per patched plug-in, a row that mounts the extensions, and front matter on all skills. */
import { Scalar } from 'yaml'
import { invalid, type Draft, type Entry, type Files, type Layout } from '../../../src/contract/index.ts'
import { headed, printYaml } from '../../../src/harness/index.ts'
import { refuseForeignSettings } from './settings.ts'

export function finishDsh(layout: Layout, draft: Draft): Files {
  const { config, files, entries } = draft
  refuseForeignSettings(entries)
  refuseOddNames(entries)
  const { primary = {}, env = {} } = config
  const variables = Object.entries(env).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
  const skills = Object.entries(headed({ layout }, draft)).map(([path, text]) => [path, marked(path, text)])
  return {
    'dsh/cordis.patch.yml': printYaml([...Object.entries(primary).map(rowOf), ...fixedRows(), ...mounted(files)]),
    ...(variables.length > 0 && { 'dsh/.env': variables.join('') }),
    ...files,
    ...Object.fromEntries(skills),
  }
}

/** The agent would skip a skill with another name. */
function refuseOddNames(entries: readonly Entry[]): void {
  for (const { id, config } of entries.filter(({ name }) => name === 'skill' || name === 'agent_command'))
    if (typeof config['name'] !== 'string' || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(config['name']))
      throw invalid('bad_entry', `${id}: config.name must be small letters and digits in words joined by single hyphens`)
}

const rowOf = ([id, patch]: readonly [string, unknown]): object => ({ id, ...(typeof patch === 'object' ? patch : {}) })

/** A patch replaces a plug-in's whole config, so the folder is repeated from the agent's own settings. */
function fixedRows(): readonly object[] {
  const root = new Scalar("dshHomePath('sessions')")
  root.tag = 'tag:yaml.org,2002:js'
  return [
    { id: 'session-persistence-jsonl', config: { root, compression: 'none', packChunks: false } },
    { id: 'session-telemetry-otel', disabled: true },
    { id: 'session-title-llm', disabled: true },
  ]
}

/** Module paths start from the profile's folder, two levels down. */
function mounted(files: Files): readonly object[] {
  const names = Object.keys(files).flatMap((path) => /^dsh\/extensions\/(.+)\.mjs$/.exec(path)?.[1] ?? [])
  if (names.length === 0) return []
  return [{ insert: names.map((name) => ({ id: `extension-${name}`, name: `../../extensions/${name}.mjs` })) }]
}

/** A command is a skill that the model may not call by itself. */
function marked(path: string, skill: string): string {
  const head = skill.slice(0, skill.indexOf('\n---', 3))
  if (!path.startsWith('dsh-agents/') || head.includes('\ndisable-model-invocation:')) return skill
  return skill.replace('\n', '\ndisable-model-invocation: true\n')
}
