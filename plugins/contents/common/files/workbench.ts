/** Where things are built before they get their name: nothing reads there, so nothing reads half of one. */
import { randomUUID } from 'node:crypto'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing, mkdirp } from '../../../../src/kit/index.ts'

/** How often something half-built may vanish under its builder because another process opened the repository and swept. */
const ATTEMPTS_MAX = 5

export class Workbench {
  readonly #folder: string

  constructor(repository: string) {
    this.#folder = join(repository, 'svc-writing')
  }

  /** Removes what a crash left half-built. A living builder whose work goes with it starts again. */
  async sweep(): Promise<void> {
    await mkdirp(this.#folder)
    const left = await readdir(this.#folder)
    await Promise.all(left.map((name) => this.discard(join(this.#folder, name))))
  }

  /** The builder makes something at the path it is given, and renames it away when it is whole and synced. */
  async build<T>(builder: (beside: string) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const beside = join(this.#folder, randomUUID())
      try {
        return await builder(beside)
      } catch (error) {
        await rm(beside, { recursive: true, force: true })
        if (!isMissing(error) || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }

  /** Renamed before it is emptied: a living builder finds its folder gone, and can never name one that lost some of its files. */
  async discard(path: string): Promise<void> {
    const aside = join(this.#folder, randomUUID())
    try {
      await rename(path, aside)
    } catch (error) {
      if (isMissing(error)) return
      throw error
    }
    await rm(aside, { recursive: true, force: true })
  }
}
