/** Whether a text holds a value as a word, as it is or as JSON spells it. */
export function mentionsOf(value: string): (text: string) => boolean {
  const spelled = [value, JSON.stringify(value).slice(1, -1)].map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
  const word = new RegExp(`(?<![\\p{L}\\p{N}])(?:${spelled.join('|')})(?![\\p{L}\\p{N}])`, 'u')
  return (text) => word.test(text)
}
