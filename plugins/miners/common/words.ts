/** Texts of others as people can read them, and names of tasks. */

/** Without control characters and marks that people do not see. */
export const visible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g, '')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (sign) => (sign === '\n' ? sign : ' '))
    .replaceAll('\ufffd', ' ')
    .trim()

/** A short name for people: words of the prompt, and the beginning of the id of where it comes from. */
export function nameOf(prompt: string, id: string): string {
  const [first = ''] = prompt.split('\n', 1)
  const words = first.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const slug = words
    .slice(0, NAME_WORDS)
    .join('-')
    .slice(0, NAME_CHARACTERS_MAX)
    .replace(/^promoted-/, '')
  return `${slug || 'task'}-${id.slice(0, ID_CHARACTERS)}`
}
const NAME_WORDS = 6
const NAME_CHARACTERS_MAX = 48
const ID_CHARACTERS = 10
