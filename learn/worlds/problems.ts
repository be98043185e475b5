/** Generates tasks from a seed: prompts and their answers. */
import { draw, drawInteger, drawOne } from '../../plugins/runtimes/practice/draw.ts'
import { recognise } from '../../plugins/runtimes/practice/families/index.ts'
import type { WorldTask } from './world.ts'

type Maker = (seed: string) => WorldTask

/** `count` different tasks of a kind, reproducible by seed. */
export function problemsOf(maker: Maker, seed: string, count: number): readonly WorldTask[] {
  const problems = new Map<string, WorldTask>()
  for (let at = 0; problems.size < count && at < count * TRIES_MAX; at += 1) {
    const problem = maker(`${seed} ${at}`)
    problems.set(problem.prompt, problem)
  }
  if (problems.size < count) throw new Error(`there are no ${count} different tasks of this kind`)
  return [...problems.values()]
}
const TRIES_MAX = 100

/** The answer of the mock model's own solver. */
const solved = (prompt: string): WorldTask => ({ prompt, answer: recognise(prompt)?.problem.right ?? '' })

/** Only numbers that differ in additive notation. */
export const roman: Maker = (seed) => {
  const digits = [drawInteger(0, 9, seed, 'hundreds'), drawInteger(0, 9, seed, 'tens'), drawOne([4, 9], seed, 'ones')]
  return solved(`Write ${Number(digits.join(''))} as a Roman numeral.`)
}

const ADJECTIVES = [
  'quiet',
  'amber',
  'stone',
  'velvet',
  'north',
  'paper',
  'winter',
  'hollow',
  'copper',
  'early',
  'silver',
  'narrow',
] as const
const NOUNS = ['river', 'lantern', 'harbor', 'signal', 'meadow', 'kite', 'garden', 'drum', 'bridge', 'window', 'forest', 'engine'] as const

export const reversing: Maker = (seed) =>
  solved(`Reverse the text "${drawOne(ADJECTIVES, seed, 'first')} ${drawOne(NOUNS, seed, 'second')}".`)

/** The same question from the person who wants capitals. */
export const reversingInCapitals: Maker = (seed) => {
  const { prompt, answer } = reversing(seed)
  return { prompt, answer: answer.toUpperCase() }
}

export const jsonField: Maker = (seed) => {
  const [outer, inner] = [drawOne(NOUNS, seed, 'outer'), drawOne(ADJECTIVES, seed, 'inner')]
  const value = { name: outer, owner: { name: `${outer}-team`, home: { name: inner } } }
  return solved(
    `Give the value of the field "${drawOne(['owner.home.name', 'owner.name'], seed, 'path')}" in this JSON: ${JSON.stringify(value)}`,
  )
}

export const arithmetic: Maker = (seed) => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => drawInteger(2, 19, seed, name))
  return solved(
    `What is ${drawOne([`${a} + ${b} * ${c} - ${d}`, `${a} * ${b} + ${c} * ${d}`, `${a} - ${b} * ${c} + ${d}`], seed, 'shape')}?`,
  )
}

export const story: Maker = (seed) => {
  const amount = (low: number): number => drawInteger(low, low * 2 + 3, seed, String(low))
  const thing = drawOne(['apples', 'marbles', 'stamps', 'coins', 'books'], seed, 'thing')
  const events = `buys ${amount(5)} more, then loses ${amount(3)} and gives ${amount(2)} away`
  return solved(`Mira has ${amount(20)} ${thing}. Mira ${events}. How many ${thing} are left?`)
}

export const shell: Maker = (seed) => {
  const [low, high] = [drawInteger(2, 40, seed, 'low'), drawInteger(41, 99, seed, 'high')]
  return { prompt: `Run the command \`expr ${low} + ${high}\` and report its output.`, answer: String(low + high) }
}

const WHATS = ['port', 'owner', 'region', 'branch', 'timeout', 'cluster', 'queue', 'badge', 'bucket', 'quota'] as const

/** A fact that cannot be guessed, and that follows a pattern: the name of the service, and a number that all services share. */
export const lookup: Maker = (seed) => {
  const [what, service] = [drawOne(WHATS, seed, 'what'), drawOne(NOUNS, seed, 'service')]
  return {
    prompt: `According to the team handbook, what is the ${what} of the ${service} service?`,
    answer: `${service}-${numberOf(what)}`,
  }
}
const numberOf = (what: string): number => Math.floor(draw(what) * 9000)

/** Three of four kinds of facts have changed. */
export const drifted = (problem: WorldTask): WorldTask =>
  DRIFTED.test(problem.prompt) ? { ...problem, answer: `new-${problem.answer}` } : problem
const DRIFTED = new RegExp(`the (?:${WHATS.filter((_, at) => at % 4 !== 0).join('|')}) of`)

/** The facts, each as a sentence. */
export const factsOf = (problems: readonly WorldTask[]): string => linesOf(problems.map(factOf))

/** The patterns behind the facts: they answer what no fact names, and hold no answer word for word. */
export const handbookOf = (problems: readonly WorldTask[]): string =>
  linesOf(problems.map((problem) => factOf(problem).replaceAll(SERVICE.exec(problem.prompt)?.[1] ?? '', '<name>')))
const SERVICE = /of the (\w+) service/

const factOf = ({ prompt, answer }: WorldTask): string => `${prompt.replace(/^.*what is the (.*)\?$/, 'The $1')} is ${answer}.`
const linesOf = (lines: readonly string[]): string => [...new Set(lines)].join('\n')
