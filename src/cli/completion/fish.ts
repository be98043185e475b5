/** Completion for fish. */
import { allNodes, type Node, type Value } from './tree.ts'

export function fishScript(tree: Node): string {
  return `# Completion of svc for fish. To load it now: svc completion fish | source
function __svc_scenarios
    set -l words (commandline -opc)
    set -l where
    for index in (seq 2 (count $words))
        switch $words[(math $index - 1)]
            case -c --config
                set where -c $words[$index]
        end
    end
    svc completion --names $where 2>/dev/null
end
complete -c svc -f
${allNodes(tree).flatMap(lines).join('\n')}`
}

function lines(node: Node): readonly string[] {
  const when = conditionOf(node)
  return [
    ...node.children.map((child) => `complete -c svc -n ${when} -a ${child.path.at(-1)} -d ${quoted(child.about)}`),
    ...node.values.flatMap((value) => (value === 'text' ? [] : `complete -c svc -n ${when} ${offer(value)}`)),
    ...node.flags.map(({ names, about, value }) => {
      const spelt = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ')
      return `complete -c svc -n ${when} ${spelt}${value === null ? '' : ` -r ${offer(value)}`} -d ${quoted(about)}`
    }),
  ]
}

/** For a subcommand, both words must have been typed. */
function conditionOf({ path, children }: Node): string {
  if (path.length === 0) return '__fish_use_subcommand'
  const typed = path.map((word) => `__fish_seen_subcommand_from ${word}`)
  const notYet = children.map((child) => child.path.at(-1)).join(' ')
  return quoted([...typed, ...(notYet === '' ? [] : [`not __fish_seen_subcommand_from ${notYet}`])].join('; and '))
}

function offer(value: Value): string {
  if (value === 'scenario') return "-a '(__svc_scenarios)'"
  if (value === 'file') return '-F'
  return value === 'text' ? '' : `-a ${quoted(value.join(' '))}`
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
