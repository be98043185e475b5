/**
 * Keeps the copy of a bucket below its size: what was used longest ago goes first. Everything in the copy is in the bucket as well, so that
 * nothing is lost, and what is asked for again is read from there.
 */
import { readdir, stat, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { entriesBelow } from '../../../src/kit/index.ts'
import { UNPACKED } from '../common/files/unpacked.ts'
import type { Workbench } from '../common/files/workbench.ts'
import type { FolderUsage } from '../common/usage.ts'

/** Removed is so much more than needed that the next look is not at once. */
const FILLED_AFTER = 0.9
/** Large files and unpacked folders are used by their paths, by engines too, and by who knows how long. */
const STAYS_MS = 3_600_000
/** A use is written down once in this time. */
const NOTED_MS = 600_000
const STATS_AT_ONCE = 32
const BLOCK_BYTES = 512

interface Entry {
  readonly path: string
  readonly kind: 'object' | 'large' | 'unpacked'
  readonly bytes: number
  readonly usedAtMs: number
}

export class BoundedFolder implements FolderUsage {
  readonly #folder: string
  readonly #bytesMax: number
  readonly #workbench: Workbench
  readonly #removing = new Map<string, Promise<unknown>>()
  /** Those noted of late. */
  #used = new Set<string>()
  #notedSinceMs = 0
  #bytes = Infinity
  #looking: Promise<void> | null = null

  constructor(folder: string, bytesMax: number, workbench: Workbench) {
    this.#folder = folder
    this.#bytesMax = bytesMax
    this.#workbench = workbench
  }

  /** It may be used once this resolves: it is not being removed, and is not removed for a while. */
  async use(path: string): Promise<void> {
    if (Date.now() - this.#notedSinceMs > NOTED_MS) {
      this.#used = new Set()
      this.#notedSinceMs = Date.now()
    }
    const isNoted = this.#used.has(path)
    this.#used.add(path)
    await this.#removing.get(path)
    const now = new Date()
    // Other processes, and later ones, see it by the time of the file.
    if (!isNoted) await utimes(path, now, now).catch(() => undefined)
  }

  grew(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= this.#bytesMax || this.#looking !== null) return
    this.#looking = this.#look()
      // What cannot be looked at or removed now is tried again with the next file.
      .catch(() => undefined)
      .finally(() => {
        this.#looking = null
      })
  }

  async idle(): Promise<void> {
    await this.#looking
  }

  async #look(): Promise<void> {
    const entries = await entriesIn(this.#folder)
    this.#bytes = entries.reduce((sum, { bytes }) => sum + bytes, 0)
    if (this.#bytes <= this.#bytesMax) return
    for (const entry of entries.toSorted(byUse)) {
      if (this.#bytes <= this.#bytesMax * FILLED_AFTER) return
      if (this.#mayGo(entry)) await this.#remove(entry)
    }
  }

  /** Said and acted upon without a pause between. */
  #mayGo({ path, kind, usedAtMs }: Entry): boolean {
    // An object is read whole or not at all, and then from the bucket.
    return kind === 'object' || (!this.#used.has(path) && Date.now() - usedAtMs > STAYS_MS)
  }

  async #remove({ path, kind, bytes, usedAtMs }: Entry): Promise<void> {
    const removal = (async () => {
      // Another process may have used it since.
      if (kind !== 'object' && (await stat(path)).mtimeMs > usedAtMs) return
      await (kind === 'unpacked' ? this.#workbench.discard(path) : unlink(path))
      this.#bytes -= bytes
    })().catch(() => undefined)
    this.#removing.set(path, removal)
    await removal
    this.#removing.delete(path)
  }
}

/** A folder goes before the large files in it: they lie there under a second name, and take their room until it is gone. */
const byUse = (a: Entry, b: Entry): number => a.usedAtMs - b.usedAtMs || Number(a.kind === 'large') - Number(b.kind === 'large')

async function entriesIn(folder: string): Promise<readonly Entry[]> {
  const [objects, large, folders] = await Promise.all([
    statsBelow(join(folder, 'objects')),
    statsBelow(join(folder, 'lfs', 'objects')),
    readdir(join(folder, UNPACKED)).catch(() => []),
  ])
  const largeFiles = new Set(large.map(({ file }) => file))
  const unpackedAtMs = new Map<string, number>()
  const unpacked: Entry[] = []
  for (const name of folders) {
    const path = join(folder, UNPACKED, name)
    const own = await statOf(path)
    if (own === null) continue
    const files = await statsBelow(path)
    for (const { file } of files) unpackedAtMs.set(file, Math.max(unpackedAtMs.get(file) ?? 0, own.usedAtMs))
    const bytes = files.reduce((sum, each) => sum + (largeFiles.has(each.file) ? 0 : each.bytes), 0)
    unpacked.push({ path, kind: 'unpacked', bytes, usedAtMs: own.usedAtMs })
  }
  return [
    ...objects.map((each) => ({ ...each, kind: 'object' as const })),
    ...large.map((each) => ({ ...each, kind: 'large' as const, usedAtMs: Math.max(each.usedAtMs, unpackedAtMs.get(each.file) ?? 0) })),
    ...unpacked,
  ]
}

interface FoundFile {
  readonly path: string
  /** The same for all names of one file. */
  readonly file: string
  readonly bytes: number
  readonly usedAtMs: number
}

async function statsBelow(root: string): Promise<readonly FoundFile[]> {
  const paths = (await entriesBelow(root)).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const found: FoundFile[] = []
  for (let at = 0; at < paths.length; at += STATS_AT_ONCE)
    for (const each of await Promise.all(paths.slice(at, at + STATS_AT_ONCE).map(statOf))) if (each !== null) found.push(each)
  return found
}

async function statOf(path: string): Promise<FoundFile | null> {
  const found = await stat(path).catch(() => null)
  return found === null ? null : { path, file: `${found.dev}:${found.ino}`, bytes: found.blocks * BLOCK_BYTES, usedAtMs: found.mtimeMs }
}
