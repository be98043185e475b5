/** Small documents beside records and rows: in folders of this machine, or in a store that all machines share. */

/**
 * The documents of one owner, by path (`a.json`, `folder/a.json`). Every promise resolves once its change is durable. Throws Refusal
 * 'invalid' for a document above DOCUMENT_BYTES_MAX, and 'conflict' (`lease_lost`) for a change under a fence that a later lease overtook.
 */
export interface Documents {
  /** Its bytes, from that one on; null when there is none. */
  read(path: string, from?: number): Promise<Uint8Array | null>
  /**
   * Puts it in place of what is there, whole or not at all. With `before` only where there is that, or where there is none (null): false
   * where there is something else.
   */
  write(path: string, text: string, before?: string | null): Promise<boolean>
  /** Adds to its end, and makes it where there is none. One whose answer was lost may be there twice. */
  append(path: string, text: string): Promise<void>
  /** Gives it another path, in place of what is there. False when there is none. */
  move(from: string, to: string): Promise<boolean>
  /** A document, or a folder with all that is in it. May be repeated. */
  remove(path: string): Promise<void>
  /** What is directly in a folder, by name; '' is the outermost one. None where there is no such folder. */
  list(folder: string): Promise<readonly ListedDocument[]>
}
export interface ListedDocument {
  readonly name: string
  readonly isFolder: boolean
  /** Of a folder: of all that is in it. */
  readonly bytes: number
}

/** Proves to the store that no later lease of that name was taken. */
export interface Fence {
  readonly name: string
  readonly token: number
}

/** The documents of an owner; with a fence only for as long as its lease is not overtaken. */
export type OpenDocuments = (owner: string, fence?: Fence) => Documents

/** What a scenario keeps: in its own folder, as its inbox of proposals, and as the records of its steps. */
export type DocumentKind = 'own' | 'proposals' | 'steps'

/** What all gateways share of a scenario. */
export type SharedDocuments = (kind: DocumentKind) => Documents

/** The scenario's folder is its own for ever, so a later scenario of the same name is another owner. */
export const ownerOf = (folder: string, kind: DocumentKind): string => `scenarios/${folder}/${kind}`
/** What belongs to no scenario. */
export const DEPLOYMENT_OWNER = 'deployment'
