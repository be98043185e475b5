/** The steps of a page: each numbered heading with the shell blocks below it. */
export interface Step {
  readonly title: string
  readonly blocks: readonly string[]
}

const HEADING = /^## (\d+\. .+)$/m
const FENCE = /^```sh\n([\s\S]*?)^```$/gm

export function stepsOf(page: string): readonly Step[] {
  const [, ...parts] = page.split(HEADING)
  const titles = parts.filter((_, index) => index % 2 === 0)
  return titles.map((title, index) => ({
    title,
    blocks: [...(parts[2 * index + 1] ?? '').matchAll(FENCE)].map(([, block = '']) => block),
  }))
}
