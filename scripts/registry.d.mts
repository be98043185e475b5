/** The types of what tests take from there. */
interface Npm {
  readonly program: string
  readonly before: readonly string[]
  readonly shell: boolean
}

export function registryProblem(
  npm: Npm,
  env: NodeJS.ProcessEnv,
  tellWaiting: () => void,
  patienceMilliseconds?: number,
): Promise<string | null>
