/** The hooks of several components, run one after another as one. Releasing or failing releases what every component holds. */
import type { InferenceHooks, Surface } from '../contract/index.ts'

/** The release's own hooks, or those of all components but one. */
export function hooksWithout({ hooks, componentHooks }: Surface, component: string | null): InferenceHooks | undefined {
  if (componentHooks === undefined) return component === null ? hooks : undefined
  const acting = Object.entries(componentHooks).flatMap(([name, own]) => (name === component ? [] : [own]))
  return acting.length === 0 ? undefined : oneAfterAnother(acting)
}

function oneAfterAnother(all: readonly InferenceHooks[]): InferenceHooks {
  return {
    async begin(release, signal) {
      const held: (() => void)[] = []
      const endAll = (): void => held.toReversed().forEach((end) => end())
      try {
        for (const hooks of all) if (hooks.begin) held.push(await hooks.begin(release, signal))
        return endAll
      } catch (error) {
        endAll()
        throw error
      }
    },
    prepare: (release, dialect, body) => all.reduce((prepared, hooks) => hooks.prepare?.(release, dialect, prepared) ?? prepared, body),
    verify: (release, dialect, answer, capture) => {
      const kept = all.flatMap((hooks) => hooks.verify?.(release, dialect, answer, capture) ?? [])
      return kept.length === 0 ? undefined : Object.assign({}, ...kept)
    },
  }
}
