/** The order in which upstreams are asked. */

export interface Choice {
  readonly priority: number
  readonly weight: number
}

/** The lowest priority first; among equals by chance, each as likely as its weight. Those without weight come last. */
export function inTurn<T extends Choice>(choices: readonly T[], random: () => number): readonly T[] {
  const priorities = [...new Set(choices.map(({ priority }) => priority))].toSorted((one, other) => one - other)
  return priorities.flatMap((priority) =>
    drawn(
      choices.filter((choice) => choice.priority === priority),
      random,
    ),
  )
}

function drawn<T extends Choice>(choices: readonly T[], random: () => number): readonly T[] {
  const left = [...choices]
  const order: T[] = []
  while (left.length > 1) order.push(...left.splice(drawOne(left, random), 1))
  return [...order, ...left]
}

function drawOne(choices: readonly Choice[], random: () => number): number {
  const total = choices.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0) return 0
  let point = random() * total
  const index = choices.findIndex(({ weight }) => {
    point -= weight
    return point < 0
  })
  // Rounding may leave a point beyond the last.
  return index === -1 ? choices.findLastIndex(({ weight }) => weight > 0) : index
}

/** Whether an upstream has a model. A name that ends in `*` stands for all that begin so. */
export function hasModel(
  { models, aliases }: { readonly models: readonly string[] | null; readonly aliases: Aliases },
  asked: string,
): boolean {
  if (models === null || asked === '' || aliases.has(asked)) return true
  return models.some((name) => (name.endsWith('*') ? asked.startsWith(name.slice(0, -1)) : name === asked))
}

export type Aliases = ReadonlyMap<string, string>
