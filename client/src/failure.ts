/** Errors that stop a command or a call, with messages for people. */

/** The command itself makes no sense as given. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Something outside the program must change before it can go on; the message says what. */
export class Failure extends Error {
  override readonly name: string = 'Failure'
}

/** About the file that is imported, or its checkpoint. */
export class ImportFailure extends Failure {
  override readonly name = 'ImportFailure'
}

/** About a tree of files: its paths, or the folder it is written to. */
export class TreeFailure extends Failure {
  override readonly name = 'TreeFailure'
}

/** About what was signed, or should have been; nothing was applied. */
export class TrustFailure extends Failure {
  override readonly name = 'TrustFailure'
}

/** About the service: not reached, or it said no. One line that ends with the next thing to do; it never holds the token. */
export class ServiceFailure extends Failure {
  override readonly name = 'ServiceFailure'
  /** The status it answered with; null when there was no whole answer. */
  readonly status: number | null
  /** A stable word for programs: the service's own, or one of ours (`unreachable`, `timeout`, `broken_answer`, `unexpected_answer`, `bad_place`). */
  readonly code: string | null

  constructor(message: string, about: { readonly status?: number; readonly code: string | null; readonly cause?: unknown }) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause })
    this.status = about.status ?? null
    this.code = about.code
  }
}
