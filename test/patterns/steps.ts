/** Counts the steps that a backtracking engine takes with a regular expression, and feeds it what such engines take long for. */
import { parsePattern, type OneCharacter, type PatternNode } from './parse.ts'

/** Tries the rest of the pattern from a place on. */
type Then = (at: number) => boolean
type Matcher = (at: number, then: Then) => boolean

const STEPS_MAX = 2_000_000

/** The steps of finding the pattern in a text: every match where it is global, the first one where not. */
class StepCounter {
  readonly #pattern: RegExp
  readonly #run: Matcher
  #text: readonly string[] = []
  #groups: ([number, number] | undefined)[] = []
  #steps = 0

  constructor(pattern: RegExp, node: PatternNode) {
    this.#pattern = pattern
    this.#run = this.#compile(node, false)
  }

  count(text: string): number {
    const { unicode, global, sticky } = this.#pattern
    this.#text = unicode ? Array.from(text) : text.split('')
    this.#steps = 0
    let end = 0
    const found: Then = (at) => {
      end = at
      return true
    }
    for (let at = 0; at <= this.#text.length && this.#steps < STEPS_MAX;) {
      this.#groups = []
      if (!this.#run(at, found)) at += 1
      else if (global || sticky) at = Math.max(end, at + 1)
      else break
    }
    return this.#steps
  }

  #step(): boolean {
    this.#steps += 1
    return this.#steps < STEPS_MAX
  }

  #compile(node: PatternNode, isBehind: boolean): Matcher {
    switch (node.kind) {
      case 'character':
        return (at, then) => this.#fits(node, at, isBehind) && then(isBehind ? at - 1 : at + 1)
      case 'sequence': {
        const parts = node.parts.map((part) => this.#compile(part, isBehind))
        const rest = isBehind ? parts : parts.toReversed()
        return rest.reduce<Matcher>(
          (after, part) => (at, then) => part(at, (next) => after(next, then)),
          (at, then) => then(at),
        )
      }
      case 'either': {
        const options = node.options.map((option) => this.#compile(option, isBehind))
        return (at, then) => options.some((option) => this.#step() && option(at, then))
      }
      case 'repeat':
        return node.part.kind === 'character' ? this.#run1(node, node.part, isBehind) : this.#loop(node, isBehind)
      case 'group': {
        const part = this.#compile(node.part, isBehind)
        return (at, then) =>
          part(at, (end) => {
            const before = this.#groups[node.number]
            this.#groups[node.number] = [Math.min(at, end), Math.max(at, end)]
            if (then(end)) return true
            this.#groups[node.number] = before
            return false
          })
      }
      case 'look': {
        const part = this.#compile(node.part, node.isBehind)
        return (at, then) => part(at, () => true) !== node.isNegative && then(at)
      }
      case 'again':
        return (at, then) => this.#again(node.group, at, isBehind, then)
      default:
        return (at, then) => this.#step() && this.#isEdge(node.of, at) && then(at)
    }
  }

  #again(group: number, at: number, isBehind: boolean, then: Then): boolean {
    const [from, to] = this.#groups[group] ?? [0, 0]
    for (let index = 0; index < to - from; index += 1) {
      const one = isBehind ? this.#text[at - index - 1] : this.#text[at + index]
      if (!this.#step() || one !== this.#text[isBehind ? to - index - 1 : from + index]) return false
    }
    return then(isBehind ? at - (to - from) : at + (to - from))
  }

  #fits({ fits }: OneCharacter, at: number, isBehind: boolean): boolean {
    const character = this.#text[isBehind ? at - 1 : at]
    return this.#step() && character !== undefined && fits(character)
  }

  /** Without nesting a call for each character. */
  #run1({ min, max, isGreedy }: RepeatNode, part: OneCharacter, isBehind: boolean): Matcher {
    const sign = isBehind ? -1 : 1
    return (at, then) => {
      let count = 0
      const take = (most: number): boolean => {
        while (count < most && this.#fits(part, at + sign * count, isBehind)) count += 1
        return count >= most
      }
      if (!take(min)) return false
      if (!isGreedy) {
        for (;;) {
          if (then(at + sign * count)) return true
          if (count >= max || !take(count + 1)) return false
        }
      }
      take(max)
      for (; count >= min; count -= 1) if (this.#step() && then(at + sign * count)) return true
      return false
    }
  }

  #loop({ part, min, max, isGreedy }: RepeatNode, isBehind: boolean): Matcher {
    const once = this.#compile(part, isBehind)
    const from = (at: number, count: number, then: Then): boolean => {
      if (!this.#step()) return false
      const again = (): boolean => count < max && once(at, (next) => (next !== at || count < min) && from(next, count + 1, then))
      if (count < min) return again()
      return isGreedy ? again() || then(at) : then(at) || again()
    }
    return (at, then) => from(at, 0, then)
  }

  #isEdge(of: 'start' | 'end' | 'word' | 'inner', at: number): boolean {
    const { multiline } = this.#pattern
    const [before, after] = [this.#text[at - 1], this.#text[at]]
    if (of === 'start') return before === undefined || (multiline && /[\n\r\u2028\u2029]/.test(before))
    if (of === 'end') return after === undefined || (multiline && /[\n\r\u2028\u2029]/.test(after))
    return (isWord(before) !== isWord(after)) === (of === 'word')
  }
}
type RepeatNode = Extract<PatternNode, { kind: 'repeat' }>

const isWord = (character: string | undefined): boolean => character !== undefined && /^\w$/.test(character)

/** The number of repetitions in the shortest text; twice and four times as many in the next ones. */
const SHORT = 8
const LONG = 160

/** The first text that the pattern takes more than linear time for, as what is repeated between what; null where there is none. */
export function slowText(pattern: RegExp): string | null {
  const node = parsePattern(pattern)
  if (!isUnbounded(node)) return null
  const counter = new StepCounter(pattern, node)
  for (const text of textsFor(node))
    if (growsFaster(counter, text, SHORT) && growsFaster(counter, text, LONG)) return JSON.stringify([text.before, text.run, text.after])
  return null
}

/** Without a repetition that has no end, each place of a text takes a bounded number of steps. */
const isUnbounded = (node: PatternNode): boolean => (node.kind === 'repeat' && node.max === Infinity) || childrenOf(node).some(isUnbounded)

interface RepeatedText {
  readonly before: string
  readonly run: string
  readonly after: string
}

/** With linear steps, what four times the text takes more than twice is three times what twice the text takes more than once. */
function growsFaster(counter: StepCounter, { before, run, after }: RepeatedText, times: number): boolean {
  const steps = (count: number): number => counter.count(before + run.repeat(count) + after)
  const [one, two, four] = [steps(times), steps(2 * times), steps(4 * times)]
  return four >= STEPS_MAX || four - 3 * two + 2 * one > (times * times) / 8
}

const VARIANTS_MAX = 48
const PLAIN_RUNS = ['\n', ' ', '\t', 'a', '0', '\r\n', ' \n', '\n ', 'a ', '"', '\\']
/** A pattern of more alternatives than these is fed what each of them begins with, a smaller one also what stands further on in it. */
const FEW_VARIANTS = 6
const STARTS_MAX = 24
const RUN_LENGTHS = [2, 4, 9, Infinity]

/** Runs of each class of characters, of what the pattern begins with, and of each after what stands before a repetition. */
function* textsFor(node: PatternNode): Generator<RepeatedText> {
  const runs = new Set(PLAIN_RUNS)
  for (const { samples } of charactersIn(node)) for (const sample of samples.slice(0, 2)) runs.add(sample)
  const befores = new Set([''])
  const variants = Math.min(VARIANTS_MAX, widest(node))
  for (let variant = 0; variant < variants; variant += 1) {
    const [whole, parts] = exampleOf(node, variant)
    for (const part of parts) befores.add(part)
    const starts = variants > FEW_VARIANTS ? 1 : Math.min(whole.length, STARTS_MAX)
    for (let from = 0; from < starts; from += 1) for (const length of RUN_LENGTHS) runs.add(whole.slice(from, from + length))
  }
  for (const before of befores)
    for (const run of before === '' ? runs : [...runs].filter((each) => each.length < 3))
      for (const after of variants > FEW_VARIANTS ? [''] : ['', '\0']) yield { before, run, after }
}

function* charactersIn(node: PatternNode): Generator<OneCharacter> {
  if (node.kind === 'character') yield node
  for (const child of childrenOf(node)) yield* charactersIn(child)
}

function childrenOf(node: PatternNode): readonly PatternNode[] {
  if (node.kind === 'sequence') return node.parts
  if (node.kind === 'either') return node.options
  return 'part' in node ? [node.part] : []
}

const widest = (node: PatternNode): number => Math.max(node.kind === 'either' ? node.options.length : 1, ...childrenOf(node).map(widest))

/** A text that the pattern fits, but for what is looked at around it; and what stands before each repetition without an end. */
function exampleOf(node: PatternNode, variant: number): readonly [whole: string, befores: readonly string[]] {
  const befores: string[] = []
  const example = (one: PatternNode, before: string): string => {
    switch (one.kind) {
      case 'character':
        return one.samples[0] ?? ''
      case 'sequence':
        return one.parts.reduce((text, part) => text + example(part, before + text), '')
      case 'either': {
        const option = one.options[variant % one.options.length]
        return option === undefined ? '' : example(option, before)
      }
      case 'repeat':
        if (one.max === Infinity) befores.push(before)
        return example(one.part, before).repeat(Math.max(1, one.min))
      case 'group':
        return example(one.part, before)
      case 'look':
        if (!one.isNegative && !one.isBehind) example(one.part, before)
        return ''
      default:
        return ''
    }
  }
  return [example(node, ''), befores]
}
