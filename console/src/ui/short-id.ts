/** An id in few characters. */

const SHORT_ENOUGH = 14
const SHA_CHARACTERS = 10
const END_CHARACTERS = 6

/** A release is known by how its hash begins. Receipts begin with their time, so that neighbours differ at the end alone. */
export function shortId(id: string): string {
  if (id.length <= SHORT_ENOUGH) return id
  if (/^[0-9a-f]{40,64}$/.test(id)) return id.slice(0, SHA_CHARACTERS)
  return `${id.slice(0, END_CHARACTERS)}…${id.slice(-END_CHARACTERS)}`
}
