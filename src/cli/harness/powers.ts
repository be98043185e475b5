/** `svc harness powers`: what the tree in a folder could do on a machine, by itself or as a change of another one. */
import { resolve } from 'node:path'
import { builtins } from '../../../plugins/index.ts'
import { loadPlugin } from '../../config/index.ts'
import { invalid, POWERS, type Adapter, type PowerReason } from '../../contract/index.ts'
import { below, fittingAdapters, folderPowers, isTreeOf, powersIn, type FolderContent } from '../../harness/index.ts'
import { counted, powerSentence } from '../../presentation/index.ts'
import { printError } from '../explain.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { readFolder } from './read-folder.ts'

export interface PowersOptions {
  readonly folder: string
  readonly before?: string
  readonly adapter?: string
  readonly json?: boolean
}

/** 0 when it is only words, 1 when it may do more, 2 when it is no tree or cannot be read. */
export async function powers(options: PowersOptions, surroundings: Surroundings): Promise<number> {
  try {
    const after = await readFolder(options.folder)
    const before = options.before === undefined ? null : await readFolder(options.before)
    const adapter = await adapterFor(options, after)
    const reasons = folderPowers(
      adapter,
      placed(adapter, options.folder, after),
      before === null ? null : placed(adapter, options.before ?? '', before),
    )
    surroundings.out(options.json === true ? jsonOf(options, adapter, reasons) : report(options, adapter, reasons, surroundings))
    return isWords(reasons) ? EXIT.fine : EXIT.failed
  } catch (error) {
    printError(error, null, surroundings)
    return EXIT.misconfigured
  }
}

const isWords = (reasons: readonly PowerReason[]): boolean => reasons.every(({ power }) => power === 'words')

const load = (name: string): Promise<Adapter> => loadPlugin('adapter', name, builtins, resolve('.'))

async function adapterFor({ folder, adapter }: PowersOptions, content: FolderContent): Promise<Adapter> {
  if (adapter !== undefined) return load(adapter)
  const names = Object.keys(builtins.adapter).toSorted()
  const fitting = fittingAdapters(await Promise.all(names.map(load)), content)
  if (fitting[0] !== undefined && fitting.length === 1) return fitting[0]
  throw invalid(
    'which_adapter',
    `it is not clear which agent the files in ${shellWord(folder)} are for; name it: --adapter ${names.join('|')}`,
  )
}

/** The folder of a tree, or the agent's own folder, such as `.claude`. */
function placed(adapter: Adapter, folder: string, content: FolderContent): FolderContent {
  const places = [content, below(adapter, content)]
  const found = places.find((each) => isTreeOf(adapter, each))
  if (found !== undefined) return found
  const { rules = '', tree = '.svc-tree.json' } = adapter.layout
  throw invalid(
    'no_tree',
    `${shellWord(folder)} is no tree for ${adapter.name}: it holds neither its entries (${tree}) nor a file that the agent reads, such as ${rules}; name the folder of a release, or the agent's own folder`,
  )
}

function jsonOf({ folder, before }: PowersOptions, { name }: Adapter, reasons: readonly PowerReason[]): string {
  const found = powersIn(reasons)
  return jsonText(
    { folder, ...(before !== undefined && { before }), adapter: name, only_words: isWords(reasons), powers: found, reasons },
    2,
  )
}

const COLUMNS: readonly TableColumn[] = [{ title: 'POWER' }, { title: 'ENTRY', least: 12 }, { title: 'WHY', least: 20 }]
const ROWS_MAX = 200
const CELL_CHARACTERS_MAX = 400

function report({ before }: PowersOptions, { name }: Adapter, reasons: readonly PowerReason[], surroundings: Surroundings): string {
  const what = before === undefined ? 'this tree' : 'this change'
  if (reasons.length === 0) return `${before === undefined ? 'an empty tree' : 'no change'} for ${name}`
  if (isWords(reasons)) return `${what} for ${name} is only words: it is plain text for the model`
  const sorted = POWERS.flatMap((power) => reasons.filter((reason) => reason.power === power))
  const more = sorted.length - ROWS_MAX
  return [
    table(COLUMNS, sorted.slice(0, ROWS_MAX).map(cellsOf), surroundings),
    ...(more > 0 ? [`and ${counted(more, 'more reason')}; --json has all of them`] : []),
    '',
    ...powersIn(reasons)
      .filter((power) => power !== 'words')
      .map((power) => powerSentence(power).replace(/^This change/, before === undefined ? 'This tree' : 'This change')),
  ].join('\n')
}

const cellsOf = ({ power, entry, why }: PowerReason): readonly Cell[] => [
  { text: power, tone: power === 'words' ? 'quiet' : 'warning' },
  oneLine(entry.slice(0, CELL_CHARACTERS_MAX).toWellFormed()),
  oneLine(why.slice(0, CELL_CHARACTERS_MAX).toWellFormed()),
]
