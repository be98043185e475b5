/** The files in which scenarios keep scores they know: torn as a power cut would, and looked through at the end. */
import { readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../random.ts'
import { namesIn } from './inbox.ts'
import { violation, type Violation } from '../oracle.ts'
import type { Scene } from './cast.ts'

/** Takes the end of the last line away from each. Answers how many lines that cost. */
export function tearCaches(scene: Scene, random: Random): number {
  const whole = cachesOf(scene).filter(({ text }) => text.endsWith('\n'))
  for (const { path, text } of whole) {
    const lineBytes = text.length - (text.lastIndexOf('\n', text.length - 2) + 1)
    truncateSync(path, text.length - random.between(2, lineBytes - 1))
  }
  return whole.length
}

/** A torn line costs itself alone: none goes on with what was written later. */
export function judgeCaches(scene: Scene, torn: number): readonly Violation[] {
  const lines = cachesOf(scene).flatMap(({ text }) => text.split('\n').filter((line) => line !== ''))
  const broken = lines.filter((line) => !LINE.test(line))
  const mixed = broken.filter((line) => END.test(line))
  return [
    ...mixed.map((line) => violation('cache', `a line was written on to a torn one: ${line}`)),
    ...(broken.length > torn ? [violation('cache', `${broken.length} lines cannot be read, and ${torn} were torn`)] : []),
  ]
}

const LINE = /^\["[0-9a-f]{64}",[\d.]+,(?:null|"[^"]*")\]$/
const END = /(?:null|")\]$/

/** Plain ASCII, so that bytes and characters are the same. */
function cachesOf({ records }: Scene): readonly { readonly path: string; readonly text: string }[] {
  const folder = join(records, 'scenarios')
  const paths = namesIn(folder).flatMap((name) =>
    namesIn(join(folder, name)).includes('episodes.jsonl') ? [join(folder, name, 'episodes.jsonl')] : [],
  )
  return paths.map((path) => ({ path, text: readFileSync(path, 'latin1') }))
}
