/** Contents read lately, so that serving a release again touches no disk: at most so many bytes, the longest unread go first. */
import type { Files } from '../../../../src/contract/index.ts'

interface Remembered {
  readonly files: Files
  readonly bytes: number
}

export class RecentContents {
  readonly #bytesMax: number
  readonly #contents = new Map<string, Remembered>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(contentId: string): Files | undefined {
    const found = this.#contents.get(contentId)
    if (found === undefined) return undefined
    this.#contents.delete(contentId)
    this.#contents.set(contentId, found)
    return found.files
  }

  /** What is larger than everything that may be remembered is not remembered, and drives nothing out. */
  put(contentId: string, files: Files): void {
    const bytes = bytesOf(files)
    if (bytes > this.#bytesMax || this.#contents.has(contentId)) return
    this.#contents.set(contentId, { files, bytes })
    this.#bytes += bytes
    for (const [oldest, { bytes: freed }] of this.#contents) {
      if (this.#bytes <= this.#bytesMax) return
      this.#contents.delete(oldest)
      this.#bytes -= freed
    }
  }
}

/** Text in memory takes up to two bytes a character; an id and its entry something too, so that a million empty contents are bounded. */
function bytesOf(files: Files): number {
  const characters = Object.entries(files).reduce((sum, [path, text]) => sum + path.length + text.length, 0)
  return 2 * characters + 256
}
