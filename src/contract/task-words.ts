/** The words of tasks: what one is for, whether one that was mined is used, and its name. */

export const TASK_ROLES = ['gate', 'train', 'regression', 'health', 'sealed'] as const
/** Accepted ones are used. */
export const TASK_STATUSES = ['proposed', 'accepted', 'dropped'] as const

/** A short name for people: words of what is asked, and the beginning of the id of where it comes from: `round-half-up-1a2b3c4d5e`. */
export function taskName(text: string, id: string): string {
  const [first = ''] = text.split('\n', 1)
  const words = first.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const slug = words
    .slice(0, NAME_WORDS)
    .join('-')
    .slice(0, NAME_CHARACTERS_MAX)
    .replace(/^(?:promoted(?:-|$))+/, '')
  return `${slug || 'task'}-${id.slice(0, ID_CHARACTERS)}`
}
const NAME_WORDS = 6
const NAME_CHARACTERS_MAX = 48
const ID_CHARACTERS = 10
