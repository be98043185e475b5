/** Test support: a brief over a real tree, tasks that a rule fixes, and a scripted model. */
import type { Adapter, Brief, ChatMessage, Entry, JsonObject, Model, Mutation, Task, Trial } from '../../../src/contract/index.ts'
import { admit } from '../../../src/harness/index.ts'

export const taskOf = (name: string, prompt = `Do the ${name} task.`): Task => ({ name, prompt, role: 'train' })

export const ruleOf = (id: string, text: string): Mutation => ({ op: 'create', id, options: { name: 'rules', config: { text } } })

export const replyOf = (id: string, text: string): string =>
  `The runs lack a habit.\n${JSON.stringify([{ design: `Teach ${id}.` }, { id, name: 'rules', config: { text } }])}`

/** Returns the replies in order, then fails like a spent budget. */
export function modelOf(...replies: readonly string[]): Model & { readonly asked: (readonly ChatMessage[])[] } {
  const asked: (readonly ChatMessage[])[] = []
  return {
    name: 'scripted',
    asked,
    async chat(messages) {
      asked.push([...messages])
      const reply = replies[asked.length - 1]
      if (reply === undefined) throw new Error('the budget is spent')
      return reply
    },
    turn: () => Promise.reject(new Error('turns are not used here')),
  }
}

/** The score of a task on a tree. */
export type PlayScore = (entries: readonly Entry[], task: Task) => number | null

/** 1 where a text of the tree holds `fixes <task>` and none holds `breaks <task>`. */
const byRules: PlayScore = (entries, { name }) => {
  const texts = JSON.stringify(entries)
  return texts.includes(`fixes ${name}`) && !texts.includes(`breaks ${name}`) ? 1 : 0
}

export function trialOf(score: number | null, reply = 'done'): Trial {
  const trajectory: readonly JsonObject[] = [{ role: 'assistant', content: reply }]
  return { score, failure: null, episode: { exitCode: 0, stdout: reply, stderr: '', trajectory } }
}

export function briefOf(adapter: Adapter, given: Partial<Brief> & { readonly play?: PlayScore }): Brief & { readonly played: string[] } {
  const { play = byRules, entries = [], ...rest } = given
  const played: string[] = []
  const treeOf = (mutations: readonly Mutation[]): readonly Entry[] | string => {
    const tree = admit(adapter, entries, mutations)
    return tree.admitted ? tree.entries : tree.reason
  }
  return {
    adapter,
    entries,
    samples: [],
    request: null,
    models: {},
    tasks: [],
    rejected: [],
    memory: {},
    played,
    check: (mutations) => (typeof treeOf(mutations) === 'string' ? 'refused by the tree' : null),
    async trial(mutations, task) {
      const tree = mutations.length === 0 ? entries : treeOf(mutations)
      if (typeof tree === 'string') return { score: null, failure: tree, episode: null }
      played.push(`${mutations.map(({ id }) => id).join('+') || 'current'}/${task.name}`)
      return trialOf(play(tree, task))
    },
    report: { phase: () => undefined, line: () => undefined },
    signal: new AbortController().signal,
    ...rest,
  }
}
