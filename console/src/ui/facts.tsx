/** Names and what they stand for. */
import type { ComponentChildren } from 'preact'
import './facts.css'

/** What is null is left out. */
export type Fact = readonly [name: string, value: ComponentChildren] | null

/** `across` sets them beside each other, as many as there is room for. */
export function Facts({ facts, across = false }: { readonly facts: readonly Fact[]; readonly across?: boolean }) {
  return (
    <dl class={across ? 'facts across' : 'facts'}>
      {facts
        .filter((fact) => fact !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
