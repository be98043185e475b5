/**
 * Harness: renders entries to files, admits or refuses mutations, and writes the install script of a release.
 * Does not run agents, store anything, or change the chain.
 */
export { admit, admitBeside, isReserved, parseMutations, parseProposal, type NewProposal } from './admission.ts'
export { authored } from './authors.ts'
export { below, fittingAdapters, folderPowers, isTreeOf, type FolderContent, type StrayFile } from './folder.ts'
export { describeAdapter, entryProblem, kindsOf } from './kinds.ts'
export { openHarness } from './open.ts'
export { powersIn, powersOf } from './powers.ts'
export { powerMetrics, powersBeyond, reviewedEntry, runsCode, touchedEntries } from './review.ts'
export { merged, printed, renderTree } from './render.ts'
export { contentOf, entriesFrom, entriesIn, pulledFiles, withEntries } from './tree.ts'
export { headed, refuseHeadField, refuseModel, refuseOtherName, refuseUndescribed, type HeadCheck } from './support/front-matter.ts'
export { isList, readDocuments, readJsonLines } from './support/json-lines.ts'
export { modelName, piAiBindings, requestsCommand } from './support/model.ts'
export { IMPORTS, powersFor, PROGRAMS } from './support/powers.ts'
export { printJson, printYaml } from './support/print.ts'
export {
  between,
  BOUNDS,
  every,
  refuseFields,
  refuseOthers,
  refuseTexts,
  settings,
  settingsIn,
  shareBetween,
  WHY,
  type RefusedFields,
} from './support/settings.ts'
export { installationOf, startOf, withoutInstall } from './install/installation.ts'
export { deliveryDigest, failureScript, installScript, preambleScript } from './install/script.ts'
