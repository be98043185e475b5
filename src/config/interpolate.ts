/** `${VAR}` and `${VAR:-default}` in a text, filled from the environment; `$${` means a plain `${`. */

export type Environment = Readonly<Record<string, string | undefined>>

export type Interpolated =
  | { readonly kind: 'plain' }
  | { readonly kind: 'filled'; readonly text: string }
  | { readonly kind: 'problem'; readonly problem: string }

const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g
const WHOLE_REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}$/

export function interpolate(text: string, environment: Environment): Interpolated {
  if (!text.includes('${')) return { kind: 'plain' }
  let problem: string | null = null
  const filled = text.replaceAll(REFERENCE, (reference) => {
    if (reference === '$${') return '${'
    const answer = fill(reference, environment)
    problem ??= answer.problem
    return answer.text
  })
  return problem === null ? { kind: 'filled', text: filled } : { kind: 'problem', problem }
}

/** An empty variable counts as unset, as in a shell's `${VAR:-default}`. */
function fill(reference: string, environment: Environment): { readonly text: string; readonly problem: string | null } {
  const [, name, fallback] = WHOLE_REFERENCE.exec(reference) ?? []
  if (name === undefined) return { text: '', problem: 'holds a ${ that is neither ${NAME} nor ${NAME:-default}; write $${ for a plain one' }
  const value = environment[name]
  if (value !== undefined && value !== '') return { text: value, problem: null }
  if (fallback !== undefined) return { text: fallback, problem: null }
  return { text: '', problem: `needs the environment variable ${name}, which is not set; set it, or write \${${name}:-default}` }
}
