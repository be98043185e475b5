/** The kinds of entries that a model may propose for an agent, each with its fields and an example. */
import { isObject, type Adapter, type EntryKind, type Json, type JsonObject } from '../../contract/index.ts'
import { kindsOf } from '../../harness/index.ts'

interface KindGuide {
  readonly fields: string
  readonly example: JsonObject
}

function proposableKinds(adapter: Adapter): readonly EntryKind[] {
  return kindsOf(adapter).filter((kind) => guideOf(adapter, kind) !== null)
}

/** Why a model may not write or remove a config of this kind, or null. Admission checks the adapter's own rules. */
export function kindProblem(adapter: Adapter, kind: string, config: JsonObject): string | null {
  const kinds = proposableKinds(adapter)
  if (!kinds.some((each) => each === kind)) return `the kind must be one of ${kinds.join(', ')}`
  if (kind !== 'config') return null
  const rule = SETTINGS[adapter.name]
  const { target = 'primary', data } = config
  return rule !== undefined && target === 'primary' && isObject(data) && rule.fits(data)
    ? null
    : `a config entry may hold ${rule?.words} alone`
}

/** One paragraph per kind, for a prompt. */
export function describeKinds(adapter: Adapter): string {
  return kindsOf(adapter)
    .flatMap((kind) => {
      const guide = guideOf(adapter, kind)
      return guide === null ? [] : [`- "${kind}": ${guide.fields}\n  Example: ${JSON.stringify(guide.example)}`]
    })
    .join('\n')
}

function guideOf({ name }: Adapter, kind: EntryKind): KindGuide | null {
  if (kind === 'config') return SETTINGS[name] ?? null
  if (kind === 'code_extension') return EXTENSIONS[name] ?? null
  return GUIDES[kind] ?? null
}

const named = (kind: string, config: JsonObject): JsonObject => ({ id: config['name'] ?? kind, name: kind, config })

/** `native_loop` is left out: it would replace the whole agent. */
const GUIDES: Readonly<Partial<Record<EntryKind, KindGuide>>> = {
  rules: {
    fields: 'config {"text"}: standing advice to the agent, there from its start. Short and general.',
    example: { id: 'ask-first', name: 'rules', config: { text: 'Ask before you delete a file.' } },
  },
  agent_command: {
    fields: 'config {"name", "text"}: a command that a person types as its name; the text is what the agent is then told.',
    example: named('agent_command', { name: 'changelog', text: 'Write the changelog of the last tag from the commits since then.' }),
  },
  skill: {
    fields:
      'config {"name", "text"}: a page that the agent reads when a task is about it. The text begins with a head of name and description; the description says when to read it.',
    example: named('skill', {
      name: 'csv-files',
      text: '---\nname: csv-files\ndescription: Read this before any task about CSV files.\n---\nLook at the header line first.\n',
    }),
  },
  native_tool: {
    fields:
      'config {"name", "description", "code", "parameters"?, "capabilities"?}: a tool of the agent. parameters is a JSON schema of an object, capabilities a list out of read, write, exec, network. The code is one module that exports run(args, workdir) and answers a text or plain data; it may use only what its capabilities name.',
    example: named('native_tool', {
      name: 'word_count',
      description: 'Counts the words of a text.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      code: 'export const run = ({ text }) => String(text.split(/\\s+/).filter(Boolean).length)\n',
    }),
  },
  native_hook: {
    fields:
      'config {"name", "event", "code"}: decides at one event. The code is one module that exports decide(event, next) and answers {"action", "reason"?}; next() is the decision without it. Events and their actions: pre_step (enter, reject), pre_execute (allow, deny, ask), request_error (fail, retry), post_execute (accept, block).',
    example: named('native_hook', {
      name: 'try-again',
      event: 'request_error',
      code: "export const decide = async (event, next) => ({ ...(await next()), action: 'retry' })\n",
    }),
  },
  native_agent: {
    fields:
      'config {"name", "prompt", "graph"?, "tools"?, "skills"?, "max_steps"? (1 to 32), "max_tool_calls"? (1 to 256), "then"?}: a second agent with a prompt of its own. tools, skills and then are lists of names that the tree has.',
    example: named('native_agent', { name: 'reviewer', prompt: 'Read the answer and say what is wrong with it.', max_steps: 4 }),
  },
  native_graph: {
    fields:
      'config {"name", "start", "stages", "edges", "max_steps"?}: how an agent goes from setup to setup. Stages: model (outcomes tool_calls, text), tools (done), verify with "check" last_line_integer, last_line_matches and "pattern", or nonempty (pass, fail), message with "text" (done), branch with "cases" (each outcome, and else), compact with "fire_ratio" above "keep_ratio" (done), subagent with "agent" (completed, gave_up, budget, ask), end with "reason" completed or gave_up. Exactly one edge for each outcome of each setup.',
    example: named('native_graph', {
      name: 'think-act',
      start: 'think',
      stages: { think: { kind: 'model' }, act: { kind: 'tools' }, done: { kind: 'end', reason: 'completed' } },
      edges: [
        { from: 'think', outcome: 'tool_calls', to: 'act' },
        { from: 'act', outcome: 'done', to: 'think' },
        { from: 'think', outcome: 'text', to: 'done' },
      ],
    }),
  },
}

/** Code is proposed only for agents whose API is described here: it runs with the user's own rights. */
const EXTENSIONS: Readonly<Record<string, KindGuide>> = {
  pi: {
    fields:
      'config {"name", "code"}: one TypeScript module, loaded at every start; its default export gets pi\'s extension API. No console output. Secrets come from process.env and are named in requires.',
    example: named('code_extension', {
      name: 'word-count',
      code: "export default function (pi) {\n  pi.registerCommand('words', { description: 'Counts words', handler: async (args, ctx) => ctx.ui.notify(String(args.split(/\\s+/).length), 'info') })\n}\n",
    }),
  },
  opencode: {
    fields:
      'config {"name", "code"}: one TypeScript module, an opencode plug-in: an exported async function that gets {client, directory, $} and answers an object of hooks. No console output, no packages to install.',
    example: named('code_extension', {
      name: 'when-idle',
      code: "export const WhenIdle = async ({ $ }) => ({\n  event: async ({ event }) => {\n    if (event.type === 'session.idle') await $`touch .idle`.quiet()\n  },\n})\n",
    }),
  },
  claude: {
    fields:
      'config {"name", "code"}: one JavaScript program for Node, run at SessionStart, UserPromptSubmit, PreToolUse, PostToolUse and Stop. The event is one JSON object on file 0, hook_event_name says which. It may write {"hookSpecificOutput": {"hookEventName", "additionalContext"}} to file 1 with fs.writeSync; silence lets the agent go on.',
    example: named('code_extension', {
      name: 'say-branch',
      code: "import { readFileSync, writeSync } from 'node:fs'\nconst { hook_event_name: hookEventName } = JSON.parse(readFileSync(0, 'utf8'))\nif (hookEventName === 'SessionStart') writeSync(1, JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: 'Work on a branch.' } }))\n",
    }),
  },
}

/** Settings that an agent enforces. A model may change no others. */
const SETTINGS: Readonly<Record<string, KindGuide & { readonly words: string; readonly fits: (data: JsonObject) => boolean }>> = {
  claude: {
    words: 'permissions.allow of WebSearch and WebFetch',
    fields:
      'config {"data": {"permissions": {"allow": […]}}}: lets the agent search or fetch the web: "WebSearch", "WebFetch" or "WebFetch(domain:…)".',
    example: {
      id: 'web-access',
      name: 'config',
      config: { data: { permissions: { allow: ['WebSearch', 'WebFetch(domain:example.org)'] } } },
    },
    fits: (data) => isOnly(data, 'permissions', (permissions) => isObject(permissions) && isOnly(permissions, 'allow', isWebAccess)),
  },
  codex: {
    words: 'web_search',
    fields: 'config {"data": {"web_search"}}: whether the agent may search the web: disabled, cached, indexed or live.',
    example: { id: 'web-access', name: 'config', config: { data: { web_search: 'live' } } },
    fits: (data) => isOnly(data, 'web_search', (value) => typeof value === 'string'),
  },
  opencode: {
    words: 'agent, each with a permission map',
    fields:
      'config {"data": {"agent": {"<name>": {"description", "mode", "prompt", "permission": {…}}}}}: an agent that may do less than the others; permission is a map of tools to allow, ask or deny.',
    example: {
      id: 'reader-agent',
      name: 'config',
      config: {
        data: {
          agent: {
            reader: {
              description: 'Reads and never writes.',
              mode: 'subagent',
              prompt: 'Read only.',
              permission: { edit: 'deny', bash: 'deny' },
            },
          },
        },
      },
    },
    fits: (data) =>
      isOnly(
        data,
        'agent',
        (agents) => isObject(agents) && Object.values(agents).every((each) => isObject(each) && isObject(each['permission'])),
      ),
  },
}

function isOnly(data: JsonObject, key: string, fits: (value: Json | undefined) => boolean): boolean {
  return Object.keys(data).every((other) => other === key) && fits(data[key])
}

const WEB_ACCESS = /^(?:WebSearch|WebFetch(?:\(domain:[a-z0-9.-]{1,253}\))?)$/i

const isWebAccess = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && WEB_ACCESS.test(each))
