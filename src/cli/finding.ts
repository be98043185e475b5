/** What doctor found out about one thing. A warning is worth reading and stops nothing; a problem keeps the service from starting or working. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'problem'
  readonly found: string
  readonly fix?: string
}
