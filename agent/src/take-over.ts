/** A session takes over from the person's own files only what its command line names, into the folder of that run alone. */
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { mkdirp } from '@svc-ai/client/folders'
import { field, parseJson, UsageError } from '@svc-ai/client/shared'
import { PRIVATE, readIfThere, writeWhole } from './whole-file.ts'

/** A text that is added to one of the run's, or fields of a JSON file. */
export interface PersonsFile {
  /** Below the person's home. */
  readonly from: string
  /** Below the root. */
  readonly to: string
  /** Paths of fields. `{folder}` stands for the working folder, and for each above it. */
  readonly fields?: readonly (readonly string[])[]
}

export type Takes = Readonly<Record<string, PersonsFile>>

interface Taking {
  readonly binary: string
  readonly client: { readonly takes?: Takes }
}

const OPTION = '--take'
const BYTES_MAX = 4 * 1024 * 1024

/** The words of the option where it stands first, and what is left for the agent. */
export function takenIn(args: readonly string[], { binary, client }: Taking) {
  const [first = '', second = ''] = args
  const isSplit = first === OPTION
  if (!isSplit && !first.startsWith(`${OPTION}=`)) return { takes: {}, rest: args }
  const names = (isSplit ? second : first.slice(OPTION.length + 1)).split(',')
  const all: Takes = client.takes ?? {}
  const stranger = names.find((name) => !Object.hasOwn(all, name))
  if (stranger !== undefined) {
    const there = Object.keys(all).join(', ')
    throw new UsageError(
      `${OPTION}: ${JSON.stringify(stranger)} of ${binary} cannot be taken over; ${there === '' ? 'nothing can' : `there is: ${there}`}`,
    )
  }
  const takes: Takes = Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
  return { takes, rest: args.slice(isSplit ? 2 : 1) }
}

interface TakeOrder {
  readonly home: string
  /** The folder of the run. */
  readonly root: string
  readonly cwd: string
  readonly say: (line: string) => void
}

export async function takeOver(takes: Takes, { home, root, cwd, say }: TakeOrder): Promise<void> {
  for (const [name, { from, to, fields }] of Object.entries(takes)) {
    const [own, place] = [await ownText(join(home, from)), join(root, to)]
    if (own === null) {
      say(`there is no ${name} to take over: ~/${from} is no file`)
      continue
    }
    const before = (await readIfThere(place)) ?? ''
    const text = fields === undefined ? `${before}${before === '' ? '' : '\n'}${own}` : withFields(before, own, fields, cwd)
    await mkdirp(dirname(place), { mode: 0o700 })
    await writeWhole({ path: place, text, mode: PRIVATE })
    say(`takes over ${name} from ~/${from}`)
  }
}

/** Also where the person's own link leads. */
async function ownText(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null)
  return found !== null && found.isFile() && found.size <= BYTES_MAX ? readIfThere(path) : null
}

function withFields(before: string, own: string, fields: readonly (readonly string[])[], cwd: string): string {
  const [target, source] = [before, own].map((text) => objectOf(parseJson(text)))
  const paths = fields.flatMap((path) =>
    path.includes('{folder}') ? upwards(cwd).map((folder) => path.map((name) => (name === '{folder}' ? folder : name))) : [path],
  )
  return `${JSON.stringify(
    paths.reduce((made, path) => withField(made, source, path), target ?? {}),
    null,
    2,
  )}\n`
}

/** The value at the path, put into a copy of what is there. */
function withField(target: object, source: unknown, [name = '', ...rest]: readonly string[]): object {
  const value = field(source, name)
  if (value === undefined) return target
  return { ...target, [name]: rest.length === 0 ? value : withField(objectOf(field(target, name)), value, rest) }
}

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {})

const upwards = (folder: string): readonly string[] => (dirname(folder) === folder ? [folder] : [folder, ...upwards(dirname(folder))])
