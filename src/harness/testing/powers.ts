/** A small adapter whose data has every form, and entries for it. */
import type { Adapter, AdapterPowers, Entry, JsonObject } from '../../contract/index.ts'

const POWERS: AdapterPowers = {
  kinds: { rules: ['words'], skill: ['words'], agent_command: [] },
  settings: {
    'primary.theme': ['words'],
    'primary.permission': ['grants'],
    'primary.tools.*': ['reaches'],
    'primary.tools.todo': ['words'],
    'primary.servers.*.command': ['runs'],
  },
  head: { description: ['words'], 'allowed-tools': ['grants'] },
  texts: [{ pattern: /(?:^|\s)@\S/, power: 'reads', why: 'an import of a file' }],
}
export const powersAdapter: Adapter = {
  name: 'agent',
  binary: 'agent',
  trajectory_format: 'none',
  layout: {
    config: { primary: { path: 'settings.json', defaults: { permission: { bash: 'ask' } } } },
    rules: 'RULES.md',
    named: { skill: 'skills/{name}.md', agent_command: 'commands/{name}.md', code_extension: 'code/{name}.mjs' },
  },
  bindings: {},
  powers: POWERS,
  launch: () => ({ argv: [], env: {}, timeoutSeconds: 1 }),
  readTrajectory: async () => [],
}

export const entry = (id: string, name: string, config: JsonObject, more: Partial<Entry> = {}): Entry => ({
  id,
  name,
  config,
  author: 'traffic',
  ...more,
})
export const set = (data: JsonObject, id = 'set'): Entry => entry(id, 'config', { data }, { author: 'traffic' })
