/**
 * What scenarios keep beside the rows, encrypted where bodies are: it quotes them. Every text that is written or added is sealed by itself, for
 * its owner, in this thread: the threads of trainers ask here, and have no key. What was there before is read as it is.
 */
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import { unavailable, type DocumentKind, type Documents, type ListedDocument, type OpenDocuments, type Store } from '../contract/index.ts'
import { FolderDocuments, Sealing } from '../kit/index.ts'

const MARK = '\u0001svc-sealed:'
const SEALED = new RegExp(`${MARK}([A-Za-z0-9+/=]+)\\n`, 'g')
const PRIVATE = 0o600

/** Undefined where scenarios keep files of this machine, in the clear. */
export function openDocuments(loaded: LoadedConfig, { documents }: Pick<Store, 'documents'>): OpenDocuments | undefined {
  const { storage } = loaded.config
  const sealing = sealingOf(loaded)
  if (!storage.encrypt_bodies || sealing === null) return documents
  const open = documents ?? foldersIn(storage.agent_record_dir)
  return (owner, fence) => sealedDocuments(open(owner, fence), sealing, owner)
}

/** Null where no key is configured. */
export function sealingOf({ config: { storage } }: LoadedConfig): Sealing | null {
  return storage.secret_key === null ? null : Sealing.read(storage.secret_key)
}

/** A scenario's own are in its folder, as without encryption; its proposals and step records are in folders there. */
const foldersIn =
  (directory: string): OpenDocuments =>
  (owner) =>
    owner.endsWith(OWN)
      ? new OwnFolder(join(directory, owner.slice(0, -OWN.length)), { mode: PRIVATE })
      : new FolderDocuments(join(directory, owner), { mode: PRIVATE })

const OWN = '/own'
const BESIDE: ReadonlySet<string> = new Set<DocumentKind>(['proposals', 'steps'])

class OwnFolder extends FolderDocuments {
  override async list(folder: string): Promise<readonly ListedDocument[]> {
    const listed = await super.list(folder)
    return folder === '' ? listed.filter(({ name }) => !BESIDE.has(name)) : listed
  }
}

export function sealedDocuments(documents: Documents, sealing: Sealing, owner: string): Documents {
  const context = `document ${owner}`
  const seal = (text: string): string => `${MARK}${sealing.seal(Buffer.from(text), context).toString('base64')}\n`
  const open = (sealed: string): string => {
    const bytes = Buffer.from(sealed, 'base64')
    const opened = sealing.open(bytes, context)
    if ('bytes' in opened) return opened.bytes.toString()
    throw unavailable(
      'document_sealed',
      opened.cannot === 'damaged'
        ? 'something that this scenario keeps is damaged; restore it from a backup'
        : `something that this scenario keeps was encrypted with another key (${bytes.toString('hex', 1, 5)}); set SVC_SECRET_KEY (storage.secret_key) to that key, also beside a newer one`,
    )
  }
  const read = async (path: string): Promise<{ readonly kept: string; readonly text: string } | null> => {
    const bytes = await documents.read(path)
    if (bytes === null) return null
    const kept = Buffer.from(bytes).toString()
    return { kept, text: kept.replaceAll(SEALED, (_, sealed: string) => open(sealed)) }
  }
  return {
    async read(path, from = 0) {
      const found = await read(path)
      return found === null ? null : Buffer.from(found.text).subarray(from)
    },
    async write(path, text, before) {
      if (before === undefined || before === null) return documents.write(path, seal(text), before)
      const found = await read(path)
      // The same text is never sealed alike, so what is kept is compared with what was read.
      return found?.text === before && documents.write(path, seal(text), found.kept)
    },
    append: (path, text) => documents.append(path, seal(text)),
    move: (from, to) => documents.move(from, to),
    remove: (path) => documents.remove(path),
    list: (folder) => documents.list(folder),
  }
}
