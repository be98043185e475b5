/** Completion for zsh, as a file on `fpath` and as something to source. */
import { allNodes, isBelow, placeOf, type Node, type Value } from './tree.ts'

/** `compadd` takes each name literally and quotes it. */
export function zshScript(tree: Node): string {
  const nodes = allNodes(tree)
  return `#compdef svc
# Completion of svc for zsh. To load it now: source <(svc completion zsh)
_svc_scenarios() {
  [[ $words[CURRENT] == -* ]] || compadd -- \${(f)"$(svc completion --names "$@" 2>/dev/null)"}
}

_svc() {
  emulate -L zsh
  local at='' before='' word
  local -a where
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
${nodes.filter(isBelow).map(step).join('\n')}
    esac
    case $before in (-c|--config) where=(-c "$word") ;; esac
    before=$word
  done
  case "$at $before" in
${nodes.flatMap(flagValues).join('\n')}
  esac
  case $at in
${nodes.map(words).join('\n')}
  esac
}
if [[ $funcstack[1] == _svc ]]; then _svc "$@"; else compdef _svc svc; fi`
}

const step = ({ path }: Node): string => `      ('${placeOf(path.slice(0, -1))} ${path.at(-1)}') at=${placeOf(path)} ;;`

function flagValues({ path, flags }: Node): readonly string[] {
  return flags.flatMap(({ names, value }) => {
    if (value === null) return []
    return `    (${names.map((name) => `'${placeOf(path)} ${name}'`).join('|')}) ${offer(value)}; return ;;`
  })
}

function offer(value: Value): string {
  if (value === 'scenario') return '_svc_scenarios $where'
  if (value === 'file') return '_files'
  return value === 'text' ? ':' : `compadd -- ${value.join(' ')}`
}

function words({ path, flags, values, children }: Node): string {
  const own = values.map(offer)
  const commands = children.map((child) => child.path.at(-1) ?? '')
  const typed = [...(commands.length === 0 ? [] : [offer(commands)]), ...own, offer(flags.flatMap(({ names }) => names))]
  return `    ('${placeOf(path)}') ${typed.join('; ')} ;;`
}
