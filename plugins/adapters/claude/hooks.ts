/** The hooks of a tree: those of the entry that the service ships, which alone may name any, and those of every extension. */
import { isObject, type Entry, type Json, type JsonObject } from '../../../src/contract/index.ts'

/** When an extension is run. */
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const

/**
 * All of them side by side: the hooks of two entries for the same event are lists, of which merging would keep the last alone. An extension is
 * a Node program that is run at each of five events. It is given the event as one JSON object on stdin (`hook_event_name` says which), and may
 * answer with `{"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}` written to file 1; silence lets the agent go on. It is plain
 * JavaScript: not every Node that a person has takes types.
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
