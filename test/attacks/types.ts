/** What the attacks of the project are described by. */

/** Tests of one file that are attacks. */
export interface AttackFile {
  readonly file: string
  /** Matched against the titles of groups and test, joined by " > "; without it every test of the file is an attack. */
  readonly titles?: RegExp
  /** Ordinary cases among them, which show that the defence lets work through. */
  readonly except?: RegExp
}

export interface AttackClass {
  readonly name: string
  /** What is tried, for the page. */
  readonly tries: string
  /** Fewer than these are an error: a class must not become empty unseen. */
  readonly least: number
  readonly files: readonly AttackFile[]
}

/** What worked against the first version. */
export interface NamedHole {
  readonly hole: string
  readonly now: string
  readonly tests: readonly AttackFile[]
}

export interface KnownLimit {
  /** The name of a class. */
  readonly of: string
  readonly what: string
  readonly why: string
  /** What an operator or a person can do about it. */
  readonly defence: string
  /** A test in which the attack works, where there can be one. */
  readonly shownBy?: AttackFile
}
