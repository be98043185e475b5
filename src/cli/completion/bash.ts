/** Completion for bash. */
import { allNodes, isBelow, placeOf, type Node, type Value } from './tree.ts'

/**
 * Scenario names come from outside: they are compared and quoted, and the shell never evaluates them. Names with a `:` or `=` are left out,
 * since bash splits words there.
 */
export function bashScript(tree: Node): string {
  const nodes = allNodes(tree)
  return `# Completion of svc for bash. To load it now: source <(svc completion bash)
_svc_scenarios() {
  local name quoted
  case $1 in -*) return ;; esac
  while IFS= read -r name; do
    case $name in *[:=]*) continue ;; esac
    printf -v quoted %q "$name"
    if [[ $name == "$1"* || $quoted == "$1"* ]]; then COMPREPLY+=("$quoted"); fi
  done < <(svc completion --names "\${@:2}" 2>/dev/null)
}

_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" at='' before='' word
  local -a where=()
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
${nodes.filter(isBelow).map(step).join('\n')}
    esac
    case $before in -c|--config) where=(-c "$word") ;; esac
    before=$word
  done
  case "$at $previous" in
${nodes.flatMap(flagValues).join('\n')}
  esac
  case $at in
${nodes.map(words).join('\n')}
  esac
}
complete -o bashdefault -o default -F _svc svc`
}

const step = ({ path }: Node): string => `      '${placeOf(path.slice(0, -1))} ${path.at(-1)}') at=${placeOf(path)} ;;`

function flagValues({ path, flags }: Node): readonly string[] {
  return flags.flatMap(({ names, value }) => {
    if (value === null) return []
    return `    ${names.map((name) => `'${placeOf(path)} ${name}'`).join('|')}) ${offer(value)}return ;;`
  })
}

/** Nothing for a file: bash completes those itself. */
function offer(value: Value): string {
  if (value === 'scenario') return '_svc_scenarios "$current" "${where[@]}"; '
  return typeof value === 'string' ? '' : `COMPREPLY=($(compgen -W '${value.join(' ')}' -- "$current")); `
}

function words({ path, flags, values, children }: Node): string {
  const typed = [...children.map((child) => child.path.at(-1)), ...values.flatMap((value) => (typeof value === 'string' ? [] : value))]
  const all = [...typed, ...flags.flatMap(({ names }) => names.filter((name) => name.startsWith('--')))]
  const names = values.includes('scenario') ? offer('scenario') : ''
  return `    '${placeOf(path)}') ${offer(all.filter((word) => word !== undefined))}${names};;`
}
