/** Release files as a stranger's repository may bring them, and what a person has beside them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FORGED = {
  release_id: 'r1',
  content_id: 'c1',
  files: ['AGENTS.md', 'mine.txt', 'models.json'],
  requires: [],
  setup: [{ name: 'mail', checked_at: 1 }],
  trust: { key: `ed25519:${'A'.repeat(43)}`, step: 9_000_000, release_id: 'r1' },
}

/** Each puts one at the path. */
export const HOSTILE_FILES: readonly (readonly [kind: string, place: (path: string) => void])[] = [
  ['a plain file', (path) => writeFileSync(path, JSON.stringify(FORGED))],
  ['a link', (path) => (writeFileSync(`${path}-target`, JSON.stringify(FORGED)), symlinkSync(`${path}-target`, path))],
  ['a pipe', (path) => void execFileSync('mkfifo', [path])],
  ['a file of four gigabytes', (path) => (writeFileSync(path, JSON.stringify(FORGED)), truncateSync(path, 2 ** 32))],
  ['a folder', (path) => void mkdirSync(join(path, 'x'), { recursive: true })],
]
