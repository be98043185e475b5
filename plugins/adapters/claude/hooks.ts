/** The hooks of a tree: those of the shipped entry, the only one that may name any, and those of every extension. */
import { isObject, type Entry, type Json, type JsonObject } from '../../../src/contract/index.ts'

/** The events that run an extension. */
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const

/**
 * Concatenates the hooks of all entries, since merging lists would keep only the last. An extension is a Node program that runs at each of
 * five events. It reads the event as one JSON object on stdin (`hook_event_name` says which), and may write
 * `{"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}` to stdout; no output lets the agent go on. It is plain JavaScript: not
 * every installed Node strips types.
 */
export function hooksOf(entries: readonly Entry[]): JsonObject {
  const all = entries.flatMap((entry) => (entry.name === 'config' ? chosen(entry) : entry.name === 'code_extension' ? extended(entry) : []))
  const events = new Set(all.map(([event]) => event))
  return Object.fromEntries([...events].map((event) => [event, all.filter(([other]) => other === event).map(([, group]) => group)]))
}

type Hook = readonly [event: string, group: Json]

function chosen({ config: { data } }: Entry): readonly Hook[] {
  const hooks = isObject(data) ? data['hooks'] : undefined
  return Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, groups]) =>
    Array.isArray(groups) ? groups.map((group: Json): Hook => [event, group]) : [],
  )
}

function extended({ config: { name } }: Entry): readonly Hook[] {
  const command = `node "$CLAUDE_CONFIG_DIR"/${quoted(`extensions/${typeof name === 'string' ? name : ''}.mjs`)}`
  return EVENTS.map((event) => [event, { hooks: [{ type: 'command', command }] }])
}

const quoted = (word: string): string => `'${word.replaceAll("'", () => `'\\''`)}'`
