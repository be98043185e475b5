/**
 * Kit: small tools that know no noun of the service.
 * Does not import any other room; folders are made and hidden characters shown by the client's files, which every surface uses. Plug-ins may use it, as `@svc-ai/svc/kit`.
 */
export { exists, isFolder, makeFolder, removeFile, sync, writeAtomicFile, writeNamedFile, writeSynced } from './atomic-file.ts'
export { clamp } from './clamp.ts'
export { entriesBelow } from './entries-below.ts'
export { codeOf, hasCode, isMissing } from './error-code.ts'
export { FolderDocuments } from './folder-documents.ts'
export { asData, fence } from './fence.ts'
export { hiddenAsJson, hiddenCharacters, showHidden, showHiddenLine, shownParts, type HiddenCharacter } from '@svc-ai/client/hidden'
export { mkdirp, mkdirpSync } from '@svc-ai/client/folders'
export { newId } from './ids.ts'
export { tlsOptions, type TlsOptions } from './tls-files.ts'
export { INSIDE_ADDRESS, InsideAddresses, isAddressRange } from './inside-address.ts'
export { faultInDocument, faultInJson, type JsonFault, type JsonRules } from './json/check.ts'
export { isDeeperThan } from './json/depth.ts'
export {
  cutOut,
  Cutting,
  elementsOf,
  firstOf,
  isListAt,
  isObjectAt,
  joined,
  membersOf,
  piecesOf,
  type Cut,
  type Member,
  type Members,
  type Span,
} from './json/parts.ts'
export { openDocument, type OpenDocument } from './json/strings.ts'
export { counted } from './counted.ts'
export { keyRemover, withoutKey } from './known-key.ts'
export {
  dataWithoutKnownSecrets,
  followSecrets,
  knowClientSecret,
  knownSecrets,
  knowPassingSecret,
  knowSecrets,
  withoutKnownSecrets,
} from './known-secrets.ts'
export { Lane, LaneByName } from './lane.ts'
export { chanceOf, lotOf } from './lots.ts'
export { BytePieces, CollectedBytes, lengthOf, textOf, withBody } from './pieces.ts'
export { isAlive, makeOwnFolder, removeLeftFolders } from './own-folder.ts'
export { meanOf } from './mean.ts'
export { screenText } from './screen.ts'
export { Sealing } from './sealing.ts'
export { mentionsOf } from './mentions.ts'
export { hasTerms, searchTerms, searchWords } from './search-words.ts'
export { holdsSecret, replaceSecrets, withoutSecrets } from './secrets.ts'
export { compact, eachShingle, sharedShare, shinglesOf, type Shingles } from './shingles.ts'
export { addressesIn } from './several-hosts.ts'
export { Slots } from './slots.ts'
export { collectOnceIdle } from './spare-memory.ts'
export { FrameSplitter, readEvent, withData, writeEvent } from './sse.ts'
export { countCodePoints, firstCodePoints, isAscii } from './text.ts'
export { TokenCounter, type TokenCounts } from './token-counter.ts'
export { logMean, Wealth } from './wealth.ts'
export { orAborted, within } from './within.ts'
export { wordsOf } from './words.ts'
