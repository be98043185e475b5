/** A folder of this machine taken as it is: texts as texts, and everything else as three lines that name its bytes. */
import { hash } from 'node:crypto'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { invalid, isLargeFile, printPointer } from '../../../src/contract/index.ts'
import type { Files } from '../../../src/contract/index.ts'

/** Bytes that are no text here go into `large`, by the text that stands for them. */
export async function takeCheckpoint(path: string, large: Map<string, Buffer>): Promise<Files> {
  const root = await realpath(path).catch(() => null)
  if (root === null) throw invalid('bad_checkpoint', 'the checkpoint does not exist; name a folder or a file of this machine')
  const names = (await stat(root)).isDirectory() ? await namesBelow(root) : null
  if (names?.length === 0) throw invalid('bad_checkpoint', 'the checkpoint holds no file; write its files before offering it')
  const sources = names === null ? [[basename(path), root] as const] : names.map((name) => [name, join(root, name)] as const)
  const texts = sources.map(async ([name, file]) => [name, textOf(name, await bytesOf(name, file), large)] as const)
  return Object.fromEntries(await Promise.all(texts))
}

async function namesBelow(root: string, folder = ''): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  const names = entries.map(async (entry) => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return namesBelow(root, name)
    if (!entry.isFile()) throw refused(name, 'is neither a file nor a folder; put the file itself there')
    return [name]
  })
  return (await Promise.all(names)).flat()
}

async function bytesOf(name: string, file: string): Promise<Buffer> {
  if (!(await stat(file)).isFile()) throw refused(name, 'is not a plain file; put the file itself there')
  return readFile(file)
}

function textOf(name: string, bytes: Buffer, large: Map<string, Buffer>): string {
  if (!isLargeFile(name, bytes)) return bytes.toString()
  const pointer = printPointer({ sha256: hash('sha256', bytes), bytes: bytes.length })
  large.set(pointer, bytes)
  return pointer
}

const refused = (name: string, problem: string): Error => invalid('bad_checkpoint', `${JSON.stringify(name)} of the checkpoint ${problem}`)
