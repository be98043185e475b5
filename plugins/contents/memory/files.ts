/** What a content may hold, by the rules of the content suite: paths that every store can keep, text that is valid Unicode. */
import { invalid } from '../../../src/contract/index.ts'
import type { Files } from '../../../src/contract/index.ts'

const PATH_BYTES_MAX = 4096
/** Empty, `.`, `..`, and `.git` in any spelling that some file system takes for it. */
const BAD_SEGMENT = /^(?:|\.{1,2}|(?:\.git|git~1)[. ]*(?::.*)?)$/isu
const INVISIBLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu

export function checkFiles(files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    if (!isPath(path)) throw invalid('bad_path', `path ${JSON.stringify(path)} is not a relative path of plain names joined by /`)
    const segments = path.split('/')
    const clash = segments.some((_, index) => index > 0 && Object.hasOwn(files, segments.slice(0, index).join('/')))
    if (clash) throw invalid('bad_path', `a folder of path ${JSON.stringify(path)} is a file too; rename one of them`)
    if (!text.isWellFormed())
      throw invalid('bad_text', `the text of ${JSON.stringify(path)} holds half a surrogate pair; send valid Unicode`)
  }
}

export function checkComponent(name: string): void {
  if (name.includes('/') || !isPath(name)) throw invalid('bad_path', `component ${JSON.stringify(name)} is not a plain name of a folder`)
}

function isPath(path: string): boolean {
  const named = path.split('/').every((segment) => !BAD_SEGMENT.test(segment.replace(INVISIBLE, '')))
  return named && path.isWellFormed() && !/[\0\\]/.test(path) && Buffer.byteLength(path) <= PATH_BYTES_MAX
}
