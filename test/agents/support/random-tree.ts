/** Random trees for a real agent: odd names, odd descriptions, and settings of which those that the service admits are kept. */
import * as fc from 'fast-check'
import { isObject, type Adapter, type Entry, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { admit, merged } from '../../../src/harness/index.ts'

/** What YAML, TOML, JSON, Markdown or an agent's own parser might take for something else. */
const ODD = `no|one: two|# three|--- four ---|"five"|it's|\\six|{a: b}|[c]|- d|%e|*f|~|0x10|1.10|é😀|e\u0301|| g|> h|null|<i>|</j>|k,l|//m|/*n*/|=|@o`
const oddText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...ODD.split('|').filter((word) => word !== '')), fc.string({ unit: 'grapheme-ascii', maxLength: 8 })), {
    minLength: 1,
    maxLength: 6,
  })
  .map((drawn) => drawn.join(' '))

/** Names that a file system, a format or an agent might have a meaning for. */
const NAMES =
  `README settings settings.local opencode config mcp index hooks package default build help init review plan null true no constructor
  hasOwnProperty 9 0x10 1e3 a.b a..b x- a_b a--b B.json a.md UPPER c-1.2.3 memory agent agents-1 skills commands ${'y'.repeat(64)}`.split(
    /\s+/,
  )

const flag: fc.Arbitrary<Json> = fc.boolean()
const count: fc.Arbitrary<Json> = fc.constantFrom(0, 1, 7, 200_000, 2 ** 31, Number.MAX_SAFE_INTEGER)
const ratio: fc.Arbitrary<Json> = fc.constantFrom(0, 0.5, 1, -1.25, 2)
const text: fc.Arbitrary<Json> = fc.oneof(
  oddText,
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', ' ', '\u0085\u2028\ufeff\u007f'),
)
const texts: fc.Arbitrary<Json> = fc.array(text, { maxLength: 3 })
const word = (...words: readonly string[]): fc.Arbitrary<Json> =>
  fc.constantFrom(...words, ...words.map((each) => each.toUpperCase()), '', 'odd')
const all = (arbitrary: fc.Arbitrary<Json>, prefix: string, names: string): Readonly<Record<string, fc.Arbitrary<Json>>> =>
  Object.fromEntries(names.split(' ').map((name) => [`${prefix}${name}`, arbitrary]))

const EFFORTS = word('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
const RULES =
  `Bash|Read(~/x)|Bash(git:*)|Bash(rm -rf *)|bash(x)|Bash()|Bash(a b)|WebFetch(domain:example.com)|WebFetch(x)|mcp__a|mcp__a_b__*|mcp__*|*|
  |Edit(/src/**/*.ts)|Skill(x)|Read(x:*)|Bash(:*)|Foo(x)|Bash(a(b))|mcp__a(x)|mcp__a__|Bash(|Bash(x)y`.split('|')
const rules: fc.Arbitrary<Json> = fc.array(
  fc.oneof(
    fc.constantFrom(...RULES),
    oddText.map((drawn) => `Bash(${drawn})`),
  ),
  { maxLength: 3 },
)
const action = fc.constantFrom<Json>('allow', 'ask', 'deny', 'Allow')
const byPattern: fc.Arbitrary<Json> = fc.dictionary(fc.oneof(fc.constantFrom('*', 'git *', 'a.b', '~/x'), oddText), action, {
  maxKeys: 3,
  noNullPrototype: true,
})
const opencodeAgent = (name: string) => ({
  ...all(text, `agent|${name}|`, 'prompt description'),
  ...all(flag, `agent|${name}|`, 'disable hidden'),
  ...all(count, `agent|${name}|`, 'steps maxSteps'),
  ...all(ratio, `agent|${name}|`, 'temperature top_p'),
  [`agent|${name}|mode`]: word('subagent', 'primary', 'all'),
  [`agent|${name}|color`]: word('primary', 'info', '#a0B1c2', 'red'),
  [`agent|${name}|permission`]: fc.oneof(action, fc.record({ bash: fc.oneof(action, byPattern), webfetch: action }, { requiredKeys: [] })),
  [`agent|${name}|tools`]: fc.dictionary(fc.constantFrom('bash', 'write', 'webfetch', 'odd-tool'), flag, { noNullPrototype: true }),
})

/** Per agent and path of a setting, values within and beyond what the adapter admits. */
export const SETTINGS: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<Json>>>>> = {
  claude: {
    ...all(flag, '', 'alwaysThinkingEnabled respectGitignore showThinkingSummaries spinnerTipsEnabled'),
    cleanupPeriodDays: count,
    effortLevel: EFFORTS,
    ...all(
      fc.constantFrom<Json>('0', '1234', '999999999', '-1', '', 5),
      'env|',
      'BASH_DEFAULT_TIMEOUT_MS BASH_MAX_OUTPUT_LENGTH BASH_MAX_TIMEOUT_MS',
    ),
    ...all(fc.constantFrom<Json>('1', '32000'), 'env|', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS MAX_THINKING_TOKENS'),
    ...all(text, '', 'language outputStyle'),
    ...all(rules, 'permissions|', 'allow ask deny'),
    'permissions|defaultMode': word('acceptEdits', 'default', 'plan'),
  },
  codex: {
    ...all(
      count,
      '',
      'background_terminal_max_timeout model_auto_compact_token_limit model_context_window project_doc_max_bytes tool_output_token_limit',
    ),
    ...all(text, '', 'compact_prompt developer_instructions'),
    ...all(EFFORTS, '', 'model_reasoning_effort plan_mode_reasoning_effort'),
    model_reasoning_summary: word('auto', 'concise', 'detailed', 'none'),
    model_verbosity: word('low', 'medium', 'high'),
    personality: word('none', 'friendly', 'pragmatic'),
    ...all(flag, '', 'hide_agent_reasoning include_environment_context include_permissions_instructions show_raw_agent_reasoning'),
    ...all(
      flag,
      'features|',
      'goals multi_agent multi_agent_v2 shell_snapshot shell_tool skill_search sleep_tool unified_exec unified_exec_tty view_image',
    ),
    project_doc_fallback_filenames: texts,
    'tools|view_image': flag,
    web_search: word('disabled', 'cached', 'indexed', 'live'),
  },
  opencode: {
    ...opencodeAgent('build'),
    ...opencodeAgent('1.odd_Name'),
    ...all(flag, 'compaction|', 'auto prune'),
    ...all(count, 'compaction|', 'preserve_recent_tokens reserved tail_turns'),
    default_agent: word('build', 'plan'),
    ...all(flag, 'experimental|', 'batch_tool continue_loop_on_deny'),
    'experimental|primary_tools': texts,
    permission: fc.oneof(
      action,
      fc.dictionary(fc.constantFrom('bash', 'edit', 'webfetch', 'odd', '*'), fc.oneof(action, byPattern), { noNullPrototype: true }),
    ),
    snapshot: flag,
    subagent_depth: count,
    ...all(count, 'tool_output|', 'max_bytes max_lines'),
    tools: fc.dictionary(fc.constantFrom('bash', 'write', 'patch', 'webfetch', 'odd'), flag, { noNullPrototype: true }),
  },
  pi: {
    ...all(count, 'branchSummary|', 'reserveTokens'),
    ...all(
      flag,
      '',
      'branchSummary|skipPrompt compaction|enabled enableSkillCommands hideThinkingBlock images|autoResize images|blockImages retry|enabled',
    ),
    ...all(count, 'compaction|', 'keepRecentTokens reserveTokens'),
    defaultThinkingLevel: EFFORTS,
    defaultTools: texts,
    ...all(word('all', 'one-at-a-time'), '', 'followUpMode steeringMode'),
    ...all(
      count,
      '',
      'httpIdleTimeoutMs retry|baseDelayMs retry|maxAgentDelayMs retry|maxRetries retry|provider|timeoutMs retry|provider|maxRetryDelayMs',
    ),
    ...all(count, 'thinkingBudgets|', 'high low medium minimal'),
  },
}

/** A tree of rules, three skills, two commands and settings, each setting as an entry of its own. */
export function randomTree(adapter: Adapter): fc.Arbitrary<readonly Entry[]> {
  const table = SETTINGS[adapter.name] ?? {}
  return fc
    .record({
      names: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 5, maxLength: 5, selector: (name) => name.toLowerCase() }),
      about: fc.array(oddText, { minLength: 5, maxLength: 5 }),
      rules: fc.array(oddText, { minLength: 1, maxLength: 2 }),
      drawn: fc.record(table, { requiredKeys: [] }),
    })
    .map(({ names, about, rules: parts, drawn }) => [
      ...parts.map((part, index): Entry => ({ id: `rules-${index}`, name: 'rules', config: { text: `Rule ${part}` } })),
      ...names.map((name, index) => described(index < 3 ? 'skill' : 'agent_command', name, `About ${about[index] ?? ''}.`)),
      ...settingsOf(adapter, drawn),
    ])
}

const described = (kind: string, name: string, about: string): Entry => ({
  id: name,
  name: kind,
  config: { name, text: `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(about)}\n---\nThe body of ${name}.` },
})

/** Those that the service admits: they are what an agent may be given. */
function settingsOf(adapter: Adapter, drawn: Readonly<Record<string, Json | undefined>>): readonly Entry[] {
  const entries = Object.entries(drawn).map(([path, value = null], index): Entry => ({
    id: `setting-${index}`,
    name: 'config',
    config: { data: nested(path.split('|'), value) },
  }))
  return entries.filter((entry) => isAdmitted(adapter, entry))
}

function nested([first = '', ...rest]: readonly string[], value: Json): JsonObject {
  return { [first]: rest.length === 0 ? value : nested(rest, value) }
}

const isAdmitted = (adapter: Adapter, { id, name, config }: Entry): boolean =>
  admit(adapter, [], [{ op: 'create', id, options: { name, config } }]).admitted

/** What the settings of a tree say once they are merged, as they were judged. */
export const judgedSettings = (entries: readonly Entry[]): JsonObject =>
  entries.reduce<JsonObject>((whole, { name, config: { data } }) => (name === 'config' && isObject(data) ? merged(whole, data) : whole), {})
