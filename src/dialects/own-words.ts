/** What a person said in a turn, without what the agent put there. */

/** What agents put into the person's turn, in elements of these names. */
const INJECTED = [
  'system-reminder',
  'system_reminder',
  'environment_context',
  'environment_details',
  'user_instructions',
  'instructions',
  'permissions instructions',
  'skills_instructions',
  'collaboration_mode',
  'local-command-caveat',
  'local-command-stdout',
  'local-command-stderr',
  'command-name',
  'command-message',
  'command-args',
  'ide_opened_file',
  'ide_selection',
]
const RULES_FILE = /^# (?:AGENTS|CLAUDE)\.md instructions\b/

/** A person's text without what the agent put there. */
export function ownWords(text: string): string {
  if (RULES_FILE.test(text.trimStart())) return ''
  return INJECTED.reduce(withoutElement, text).trim()
}

/** One pass, so that a text of many beginnings takes no longer. */
function withoutElement(text: string, name: string): string {
  const [begin, end] = [`<${name}`, `</${name}>`]
  const lower = text.toLowerCase()
  let kept = ''
  let from = 0
  for (let at = lower.indexOf(begin); at >= 0; at = lower.indexOf(begin, Math.max(from, at + 1))) {
    if (!/[\s>]/.test(lower.charAt(at + begin.length))) continue
    const close = lower.indexOf(end, at)
    if (close < 0) break
    kept += text.slice(from, at)
    from = close + end.length
  }
  return kept + text.slice(from)
}
