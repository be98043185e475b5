/** Colours by what they mean, so that every command means the same by them. */
export type Tone = 'strong' | 'quiet' | 'good' | 'warning' | 'bad'

const CODE: Readonly<Record<Tone, number>> = { strong: 1, quiet: 2, good: 32, warning: 33, bad: 31 }

export function paint(text: string, tone: Tone | undefined, screen: { readonly colours: boolean }): string {
  return tone === undefined || text === '' || !screen.colours ? text : `\u001B[${CODE[tone]}m${text}\u001B[0m`
}
