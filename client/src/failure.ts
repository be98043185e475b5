/** Why an import stopped, in words for whoever started it. */

/** The command itself makes no sense as given. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Something about the file, the checkpoint or the service must change before the import can go on. */
export class ImportFailure extends Error {
  override readonly name = 'ImportFailure'
}
