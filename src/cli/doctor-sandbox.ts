/** What doctor looks at for episodes: whether agents can be kept apart from this machine. */
import type { LoadedConfig } from '../config/index.ts'
import { halves } from './explain.ts'
import type { Finding } from './finding.ts'

/** Nothing that keeps a service from serving, so never more than a warning. */
export async function checkSandbox(loaded: LoadedConfig, look = lookClosely): Promise<readonly Finding[]> {
  const problem = await look(loaded)
  if (problem === null) return [{ check: 'sandbox', state: 'ok', found: 'episodes of agents are kept apart from this machine' }]
  return [{ check: 'sandbox', state: 'warning', ...halves(`code that a model writes is refused: ${problem}`) }]
}

/** The service's own rooms are loaded for this alone: every other command should be there at once. */
const lookClosely = async (loaded: LoadedConfig): Promise<string | null> => (await import('../main.ts')).sandboxProblem(loaded)
