/** The agents that can be improved: where a repository keeps their rules, skills and commands, and which of them a repository is for. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Paths below the repository, the one that new files get first. `{name}` is the name of the entry. */
export interface HarnessPlaces {
  readonly rules: readonly string[]
  readonly skill: readonly string[]
  readonly agent_command: readonly string[]
}

export interface AgentLayout {
  readonly title: string
  readonly program: string
  /** Files and folders that no other agent reads. */
  readonly marks: readonly string[]
  readonly places: HarnessPlaces
}

const SHARED_SKILLS = '.agents/skills/{name}/SKILL.md'
/** The rules that several agents read. */
const SHARED_RULES = 'AGENTS.md'

export const AGENTS: Readonly<Record<string, AgentLayout>> = {
  claude: {
    title: 'Claude Code',
    program: 'claude',
    marks: ['CLAUDE.md', '.claude'],
    places: {
      rules: ['CLAUDE.md', '.claude/CLAUDE.md'],
      skill: ['.claude/skills/{name}/SKILL.md'],
      agent_command: ['.claude/commands/{name}.md'],
    },
  },
  codex: {
    title: 'Codex',
    program: 'codex',
    marks: ['.codex'],
    places: { rules: [SHARED_RULES], skill: [SHARED_SKILLS, '.codex/skills/{name}/SKILL.md'], agent_command: [] },
  },
  opencode: {
    title: 'opencode',
    program: 'opencode',
    marks: ['.opencode', 'opencode.json', 'opencode.jsonc'],
    places: {
      rules: [SHARED_RULES],
      skill: ['.opencode/skills/{name}/SKILL.md', '.opencode/skill/{name}/SKILL.md'],
      agent_command: ['.opencode/commands/{name}.md', '.opencode/command/{name}.md'],
    },
  },
  pi: {
    title: 'pi',
    program: 'pi',
    marks: ['.pi'],
    places: {
      rules: [SHARED_RULES, 'CLAUDE.md'],
      skill: ['.pi/skills/{name}/SKILL.md', SHARED_SKILLS],
      agent_command: ['.pi/prompts/{name}.md'],
    },
  },
}

/** The service's own agent, which needs no program: for the demonstration, and for `--agent native`. */
export const NATIVE = 'native'
const OWN: AgentLayout = {
  title: 'the agent that comes with the service',
  program: 'svc-native',
  marks: [],
  places: { rules: [SHARED_RULES, 'CLAUDE.md'], skill: [SHARED_SKILLS], agent_command: [] },
}

export const layoutOf = (agent: string): AgentLayout | null =>
  agent === NATIVE ? OWN : Object.hasOwn(AGENTS, agent) ? (AGENTS[agent] ?? null) : null

export interface FoundAgents {
  /** What the repository and the machine speak for; one alone is the agent. */
  readonly agents: readonly string[]
  /** Why, for people to read. */
  readonly why: string
}

/** By what the repository holds, and where that leaves several, by what is installed. */
export async function findAgents(folder: string, path: string): Promise<FoundAgents> {
  const names = Object.keys(AGENTS)
  const marked = await those(names, (name) => anyOf((AGENTS[name]?.marks ?? []).map((mark) => join(folder, mark))))
  const isShared = await anyOf([join(folder, SHARED_RULES)])
  const readers = names.filter((name) => AGENTS[name]?.places.rules.includes(SHARED_RULES) === true)
  const held = marked.length > 0 ? marked : isShared ? readers : []
  const installed = await those(names, (name) => isInstalled(AGENTS[name]?.program ?? name, path))
  if (held.length === 0) return { agents: installed, why: 'the repository holds no rules of an agent' }
  const both = held.filter((name) => installed.includes(name))
  if (held.length === 1 || both.length === 0) return { agents: held, why: 'by the files of the repository' }
  return { agents: both, why: 'by the files of the repository and what is installed' }
}

async function those(names: readonly string[], holds: (name: string) => Promise<boolean>): Promise<readonly string[]> {
  const kept = await Promise.all(names.map(holds))
  return names.filter((_, at) => kept[at])
}

async function anyOf(paths: readonly string[]): Promise<boolean> {
  const found = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}

async function isInstalled(program: string, path: string): Promise<boolean> {
  const places = path.split(delimiter).filter((folder) => folder !== '')
  const found = await Promise.all(
    places.map((folder) =>
      access(join(folder, program), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}
